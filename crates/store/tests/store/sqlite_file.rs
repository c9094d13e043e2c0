//! The file of a SQLite log.

use std::path::Path;

use outfitter_core::{AppendError, ApprovalStore as _, Log, Seq, StoreError};
use outfitter_store::{LogOpenError, SCHEMA_VERSION, SqliteLog};
use rstest::rstest;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, SqliteConnection};

use crate::rig::{Kind, Rig, append, me, said, session, text, texts};

pub(crate) async fn connect(file: &Path) -> SqliteConnection {
    SqliteConnectOptions::new()
        .filename(file)
        .create_if_missing(true)
        .connect()
        .await
        .unwrap()
}

pub(crate) async fn execute(file: &Path, sql: &str) {
    let mut connection = connect(file).await;
    sqlx::raw_sql(AssertSqlSafe(sql))
        .execute(&mut connection)
        .await
        .unwrap();
    connection.close().await.unwrap();
}

pub(crate) async fn number(file: &Path, sql: &'static str) -> i64 {
    let mut connection = connect(file).await;
    let number = sqlx::query_scalar(sql)
        .fetch_one(&mut connection)
        .await
        .unwrap();
    connection.close().await.unwrap();
    number
}

#[tokio::test]
async fn nothing_is_touched_before_the_first_use() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("deep/er/o.db");
    let log = SqliteLog::new(&file);
    assert!(!directory.path().join("deep").exists());
    append(&log, &me(), &session("a"), 0, vec![said("1")])
        .await
        .unwrap();
    assert!(file.exists());
}

#[rstest]
#[case::a_space("a b.db")]
#[case::an_escape("a%20b.db")]
#[case::a_query("o.db?mode=memory")]
#[case::a_fragment("o#x.db")]
#[case::a_uri("file:o.db")]
#[case::memory(":memory:")]
#[tokio::test]
async fn a_path_is_taken_as_it_is(#[case] name: &str) {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join(name);
    append(
        &SqliteLog::new(&file),
        &me(),
        &session("a"),
        0,
        vec![said("1")],
    )
    .await
    .unwrap();
    assert!(file.metadata().unwrap().len() > 0);
    assert_eq!(
        texts(&SqliteLog::new(&file), &me(), &session("a")).await,
        ["1"]
    );
}

#[tokio::test]
async fn another_log_on_the_file_sees_the_same_and_the_file_says_what_it_is() {
    let rig = Rig::new(Kind::Sqlite);
    append(&*rig.log, &me(), &session("a"), 0, vec![said("1")])
        .await
        .unwrap();
    let other = SqliteLog::new(rig.file());
    append(&other, &me(), &session("a"), 1, vec![said("2")])
        .await
        .unwrap();
    assert_eq!(texts(&*rig.log, &me(), &session("a")).await, ["1", "2"]);
    assert_eq!(
        number(&rig.file(), "PRAGMA user_version").await,
        SCHEMA_VERSION
    );
    assert_eq!(number(&rig.file(), "SELECT count(*) FROM entries").await, 2);
}

fn kind(error: &LogOpenError) -> &'static str {
    match error {
        LogOpenError::Directory { .. } => "directory",
        LogOpenError::File { .. } => "file",
        LogOpenError::NotADatabase { .. } => "not a database",
        LogOpenError::Foreign { .. } => "foreign",
        LogOpenError::Newer { .. } => "newer",
        LogOpenError::Sqlite { .. } => "sqlite",
    }
}

#[rstest]
#[case::short(b"hello".to_vec())]
#[case::long(b"not a database\n".repeat(1000))]
#[case::nearly(b"SQLite format 3".to_vec())]
#[tokio::test]
async fn a_file_that_is_something_else_is_refused_and_left_alone(#[case] bytes: Vec<u8>) {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("o.db");
    std::fs::write(&file, &bytes).unwrap();
    let log = SqliteLog::new(&file);
    let error = log.ready().await.unwrap_err();
    assert_eq!(kind(&error), "not a database", "{error:?}");
    assert_eq!(std::fs::read(&file).unwrap(), bytes);

    // The same on the way of every method, and each time anew: the fault may be mended.
    let error = append(&log, &me(), &session("a"), 0, vec![said("1")]).await;
    let Err(AppendError::Store(error)) = error else {
        panic!("{error:?}");
    };
    let cause = LogOpenError::of(&error).unwrap();
    let said_in_full = format!("failed to {error}: {cause}");
    assert_eq!(
        said_in_full.replace(file.to_str().unwrap(), "FILE"),
        "failed to use the store: its file cannot be used: open the store FILE: it is not a database"
    );
    assert!(cause.hint().contains("[store] url"));
    std::fs::remove_file(&file).unwrap();
    append(&log, &me(), &session("a"), 0, vec![said("1")])
        .await
        .unwrap();
}

#[rstest]
#[case::of_another_program("CREATE TABLE notes (x); INSERT INTO notes VALUES (1)", "foreign")]
#[case::of_another_program_with_a_version("PRAGMA user_version = 3", "foreign")]
#[case::of_a_newer_version(
    "PRAGMA application_id = 1333097542; PRAGMA user_version = 99; CREATE TABLE x (y)",
    "newer"
)]
#[tokio::test]
async fn a_database_that_is_not_ours_to_change_is_refused_and_left_alone(
    #[case] sql: &str,
    #[case] why: &str,
) {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("o.db");
    execute(&file, sql).await;
    let before = std::fs::read(&file).unwrap();
    let error = SqliteLog::new(&file).ready().await.unwrap_err();
    assert_eq!(kind(&error), why, "{error:?}");
    assert!(!error.hint().is_empty());
    assert_eq!(std::fs::read(&file).unwrap(), before);
}

/// A file of the version before: its sessions stay, and it gets room for what is new.
#[tokio::test]
async fn a_file_of_an_earlier_version_is_brought_up_to_date() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("o.db");
    let first = include_str!("../../migrations/0001_sessions_and_entries.sql");
    let marks = "PRAGMA application_id = 1333097542; PRAGMA user_version = 1;";
    let row = "INSERT INTO sessions VALUES ('t', 's', 'old', 0, 1, 1, 1);";
    execute(&file, &format!("{first}\n{marks}\n{row}")).await;
    let log = SqliteLog::new(&file);
    assert_eq!(log.standing(&me()).await.unwrap(), []);
    assert_eq!(number(&file, "PRAGMA user_version").await, SCHEMA_VERSION);
    let page = log.read(&me(), &session("old"), Seq(1), 0).await.unwrap();
    assert_eq!(page.head, Seq(0));
}

#[tokio::test]
async fn a_place_that_cannot_be_is_said() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("plain"), "x").unwrap();
    let below = SqliteLog::new(directory.path().join("plain/o.db"));
    assert_eq!(kind(&below.ready().await.unwrap_err()), "directory");
    let is_directory = SqliteLog::new(directory.path());
    assert_eq!(kind(&is_directory.ready().await.unwrap_err()), "sqlite");
}

#[rstest]
#[case::not_json("torn {", "run")]
#[case::another_form(r#"{"v":9,"body":{}}"#, "run")]
#[case::an_unknown_entry(r#"{"v":1,"body":{"entry":"prophecy","body":{}}}"#, "run")]
#[case::a_run_that_is_none(
    r#"{"v":1,"body":{"entry":"intent","body":{"call":"c","tool":"t","idempotent":true}}}"#,
    ""
)]
#[tokio::test]
async fn one_row_that_cannot_be_read_hides_no_other(#[case] body: &str, #[case] run: &str) {
    let rig = Rig::new(Kind::Sqlite);
    let id = session("a");
    let entries = (1..=5).map(|at| said(at.to_string())).collect();
    append(&*rig.log, &me(), &id, 0, entries).await.unwrap();
    let sql = format!(
        "DROP TRIGGER entries_never_change;
         UPDATE entries SET body = '{body}', run = '{run}' WHERE seq = 3"
    );
    execute(&rig.file(), &sql).await;

    let page = rig.log.read(&me(), &id, Seq(1), 0).await.unwrap();
    assert_eq!((page.entries.len(), page.next), (2, Some(Seq(3))));
    assert_eq!(page.head, Seq(5));
    let error = rig.log.read(&me(), &id, Seq(3), 0).await.unwrap_err();
    assert!(
        matches!(&error, StoreError::Corrupt { seq: Seq(3), session, .. } if *session == id),
        "{error:?}"
    );
    let page = rig.log.read(&me(), &id, Seq(4), 0).await.unwrap();
    assert_eq!(text(&page.entries[0].body), "4");
    assert_eq!(page.next, None);
    // And the session goes on.
    append(&*rig.log, &me(), &id, 5, vec![said("6")])
        .await
        .unwrap();
}

/// A damaged file is said to be one, whatever is damaged and whatever is asked.
#[rstest]
#[case::cut_in_half(|bytes: &mut Vec<u8>| bytes.truncate(bytes.len() / 2))]
#[case::cut_in_a_page(|bytes: &mut Vec<u8>| bytes.truncate(3 * 4096 + 17))]
#[case::overwritten(|bytes: &mut Vec<u8>| bytes[4096..].fill(0xa5))]
#[case::zeroed(|bytes: &mut Vec<u8>| bytes[2 * 4096..].fill(0))]
#[tokio::test]
async fn a_damaged_file_is_an_error(#[case] damage: fn(&mut Vec<u8>)) {
    let rig = Rig::new(Kind::Sqlite);
    let id = session("a");
    let entries = (0..200).map(|_| said("x".repeat(500))).collect();
    append(&*rig.log, &me(), &id, 0, entries).await.unwrap();
    execute(&rig.file(), "PRAGMA wal_checkpoint(TRUNCATE)").await;
    let mut bytes = std::fs::read(rig.file()).unwrap();
    damage(&mut bytes);
    let file = rig.file().with_file_name("damaged.db");
    std::fs::write(&file, bytes).unwrap();

    let log = SqliteLog::new(&file);
    let mut from = Some(Seq(1));
    let mut read = 0;
    let error = loop {
        let Some(place) = from else {
            panic!("{read} of 200 entries, and no error");
        };
        match log.read(&me(), &id, place, 0).await {
            Ok(page) => {
                read += page.entries.len();
                from = page.next;
            }
            Err(error) => break error,
        }
    };
    let mut chain = error.to_string();
    let mut cause = std::error::Error::source(&error);
    while let Some(next) = cause {
        chain = format!("{chain}: {next}");
        cause = next.source();
    }
    assert!(
        chain.contains("damaged") || chain.contains("malformed"),
        "{chain}"
    );
}

#[tokio::test]
async fn a_row_is_never_changed() {
    let rig = Rig::new(Kind::Sqlite);
    append(&*rig.log, &me(), &session("a"), 0, vec![said("1")])
        .await
        .unwrap();
    let mut connection = connect(&rig.file()).await;
    let changed = sqlx::query("UPDATE entries SET body = 'x'")
        .execute(&mut connection)
        .await;
    let error = changed.unwrap_err().to_string();
    assert!(error.contains("entries are never changed"), "{error}");
}

fn holds(file: &Path, needle: &[u8]) -> bool {
    std::fs::read(file)
        .unwrap_or_default()
        .windows(needle.len())
        .any(|window| window == needle)
}

#[tokio::test]
async fn what_was_deleted_is_in_no_file() {
    let rig = Rig::new(Kind::Sqlite);
    let id = session("a");
    let secret = "a-very-private-sentence".repeat(500);
    append(&*rig.log, &me(), &id, 0, vec![said(&secret)])
        .await
        .unwrap();
    append(&*rig.log, &me(), &session("b"), 0, vec![said("kept")])
        .await
        .unwrap();
    let wal = rig.file().with_extension("db-wal");
    let needle = b"a-very-private-sentence";
    assert!(holds(&rig.file(), needle) || holds(&wal, needle));
    rig.log.delete(&me(), &id).await.unwrap();
    assert!(!holds(&rig.file(), needle));
    assert!(!holds(&wal, needle));
    assert_eq!(texts(&*rig.log, &me(), &session("b")).await, ["kept"]);
}
