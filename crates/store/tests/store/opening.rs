//! A store from its URL.

use std::sync::Arc;

use bytes::Bytes;
use outfitter_core::{NewArtifact, SystemClock};
use outfitter_store::{StoreUrl, open};
use rstest::rstest;

use crate::rig::{append, me, said, session, texts};

#[rstest]
#[case::the_default_in_files(None, true)]
#[case::in_memory(Some("memory:"), false)]
#[tokio::test]
async fn a_store_touches_nothing_until_it_is_used(#[case] url: Option<&str>, #[case] files: bool) {
    let directory = tempfile::tempdir().unwrap();
    let data_dir = directory.path().join("data");
    let url = match url {
        Some(url) => StoreUrl::parse(url).unwrap(),
        None => StoreUrl::in_data_dir(&data_dir),
    };
    let store = open(&url, &data_dir, Arc::new(SystemClock));
    assert!(!data_dir.exists());

    let id = session("a");
    append(&*store.log, &me(), &id, 0, vec![said("1")])
        .await
        .unwrap();
    let new = NewArtifact {
        mime: "text/plain".to_owned(),
        name: "x".to_owned(),
    };
    let artifact = store.artifacts.create(&me(), &id, new).await.unwrap();
    store
        .artifacts
        .append(&me(), &id, &artifact, Bytes::from("bytes"))
        .await
        .unwrap();
    assert_eq!(texts(&*store.log, &me(), &id).await, ["1"]);
    let chunk = store.artifacts.read(&me(), &id, &artifact, 0, 9).await;
    assert_eq!(chunk.unwrap().bytes, "bytes");
    assert_eq!(data_dir.join("outfitter.db").exists(), files);
    assert_eq!(data_dir.join("artifacts/t/s/a").exists(), files);
}
