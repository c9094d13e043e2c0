//! Which of the encodings before UTF-8 a text is in. Nothing says so: it is a guess.
//!
//! Longer texts are judged as browsers judge them, by how often letters follow each other. A few
//! bytes say too little for that; they are tried in the encodings of East Asia, and the one counts
//! in which most of them are characters that people really write. What touches a letter as an
//! accented one would is never taken for those.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{BIG5, EUC_JP, EUC_KR, Encoding, GBK, SHIFT_JIS, WINDOWS_1252};

/// Up to this many bytes beyond ASCII are a short text.
const SHORT_BYTES: usize = 128;

/// Points of a character that is common, that is plausible, and that nobody writes.
const COMMON: i64 = 2;
const PLAUSIBLE: i64 = 1;
const ODD: i64 = -1;

/// The characters that stand for more than half of what is written in simplified Chinese, and those
/// of messages of programs.
const SIMPLIFIED: &str = "\
的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道行所然\
家种事成方多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心她本前开但因只从想实日军者意无力它与长把\
机十民第公此已工使情明性知全三又关点正业外将两高间由问很最重并物手应战向头文体政美相见被利什二等产或新己制身果\
加西斯月话合回特代内信表化老给世位次度门任常先海通教儿原东声提立及比员解水名真论处走义各入几口认条平系气题活尔\
更别打女变四神总何电数安少报才结反受目太量再感建务做接必场件计管期市直德资命山金指克许统区保至队形社便空决治展\
马科司五基眼书非则听白却界达光放强即像难且权思王象完设式色路记南品住告类求据程北边死张该交规万取拉格望觉术领共\
确传师观清今切院让识候带导争运笔请您谢再吗呢吧啊哪谁每码错误试测失败除删存储载输读写连网络服务器配置默认参找键\
值例编译启停止退警未选项密登录录执版径源户本串行端线框按钮图片音视频快慢空格字符模块件夹复移粘贴世界茶";

/// The same of traditional Chinese.
const TRADITIONAL: &str = "\
的一是不了在人有我他這個們中來上大為和國地到以說時要就出會可也你對生能而子那得於著下自之年過發後作裡用道行所然\
家種事成方多經麼去法學如都同現當沒動面起看定天分還進好小部其些主樣理心她本前開但因只從想實日者意無力它與長把機\
十民第公此已工使情明性知全三又關點正業外將兩高間由問很最重並物手應向頭文體政美相見被利什二等產或新己制身果加西\
月話合回特代內信表化老給世位次度門任常先通教兒原東聲提立及比員解水名真論處走義各入幾口認條平系氣題活更別打女變\
四總何電數安少報才結反受目太量再感建務做接必場件計管期市直資命金指許統區保至形社便空決治展書非則聽白界達光放強\
難且權思完設式色路記南品住告類求據程北邊該交規萬取望術領共確傳師觀清今切院讓識候帶導爭運請您謝嗎呢吧啊哪誰每碼\
錯誤試測失敗除刪存儲載輸讀寫連網路伺服器檔案目錄體繁簡無法開啟找執版";

/// Kanji of Japanese text; kana are counted by themselves.
const KANJI: &str = "\
日本語人大年一国会中長出三同時政事自行社見月分議後前民生連五発間対上部東者党地合市業内相方四定今回新場金員九入\
選立開手米力学問高代明実円関決子動京全目表戦経通外最言氏現理調体化田当八六約主題下首意法不来作性的要用制治度務\
強気小七成期公野協取都和統以機平総加山思家話世受区領多県続進正安設保改数記院女初北午指権心界支第産結百派点教報\
済書府活原先共得解名交資予川向際査勝面委告軍文反元重近千考判認画海参売利組知案道信策集在件団別物側任引使求所次\
水半品昨論計死官増係感特情投示変打男基私各始島直両朝革価式確村提運終挙果西勢減台広容必応演電歳住争談能無再位置\
企真流格有疑口過局少放税検藤町常校料沢裁状工建語球営空職証土与急止送援供可役構木割聞身費付施切由説転食比難防補\
車優夫研収断井何南石足違消境神番規術護展態導鮮備宅害配副算視条幹独警宮究育席輸訪楽起万着乗店述残想線率病農州武\
声質念待試族象銀域助労例衛然早張映限親額監環験追審商葉義伝働形景落欧担好退準賀訴辺造英被株頭技低毎医復仕去姿味\
負閣韓渡失移差衆個門写評課末守若脳極種美岡影命含福蔵量望松非撃佐核観察整段横融型白深字答夜製票況音申様財港識注\
呼渉達文字化誤消除保存接続名前読込失敗";

/// Syllables of Korean text.
const HANGUL: &str = "\
이다는을의에가고하지한도기로나사아인자리어그대수있서것은정시해주들일스라보전적부장제만구상요과여오면없와게우연\
소중세모경니마원조무성동안를비유선생위공물미신방화말문관거실회바재학당국때자였했습니까데러려않음내터계속개더알\
영차발트할년월일본드금간양할입력출오류파일폴더없습니다안녕하세요세계한국어테스트확인취소저장열기닫기실패성공";

/// What stands in texts of Western Europe and hardly in others; where it is all there is, nothing
/// speaks for another encoding.
const WESTERN: &str = "£©®°§½¼¾¿¡«»ïÏ";

/// A guess.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Guess {
    /// The encoding; every text in one of these can be read in it somehow.
    pub encoding: &'static Encoding,
    /// Whether there was so little to go by that it may well be another.
    pub doubtful: bool,
}

/// Guesses by bytes that are no UTF-8. `whole` says that the text ends with them: otherwise a
/// character that is cut off speaks against nothing.
#[must_use]
pub fn guess(bytes: &[u8], whole: bool) -> Guess {
    let beyond_ascii = bytes.iter().filter(|byte| !byte.is_ascii()).count();
    let doubtful = beyond_ascii <= SHORT_BYTES;
    if whole
        && doubtful
        && let Some(encoding) = east_asian(bytes).or_else(|| western(bytes))
    {
        return Guess { encoding, doubtful };
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(bytes, whole);
    Guess {
        encoding: detector.guess(None, Utf8Detection::Deny),
        doubtful,
    }
}

/// The encoding of East Asia that makes sense of a short text, if one does.
fn east_asian(bytes: &[u8]) -> Option<&'static Encoding> {
    if has_accents(bytes) {
        return None;
    }
    // Of two that make as much sense the first counts.
    [GBK, SHIFT_JIS, BIG5, EUC_KR, EUC_JP]
        .into_iter()
        .filter_map(|encoding| Some((encoding, sense(encoding, bytes)?)))
        .reduce(|best, other| if other.1 > best.1 { other } else { best })
        .map(|(encoding, _)| encoding)
}

fn western(bytes: &[u8]) -> Option<&'static Encoding> {
    let (text, _) = WINDOWS_1252.decode_without_bom_handling(bytes);
    let known = |c: char| c.is_ascii() || WESTERN.contains(c);
    text.chars().all(known).then_some(WINDOWS_1252)
}

/// How much sense a text makes in an encoding, in thousandths of a point for each of its
/// characters; `None` where it makes too little.
fn sense(encoding: &'static Encoding, bytes: &[u8]) -> Option<i64> {
    let text = encoding.decode_without_bom_handling_and_without_replacement(bytes)?;
    let (mut points, mut count) = (0, 0);
    for c in text.chars().filter(|c| !c.is_ascii()) {
        points += points_of(encoding, c);
        count += 1;
    }
    let each = points * 1000 / std::cmp::max(count, 1);
    // At least half of them have to be common.
    (count > 0 && each >= COMMON * 500).then_some(each)
}

fn points_of(encoding: &'static Encoding, c: char) -> i64 {
    let japanese = encoding == SHIFT_JIS || encoding == EUC_JP;
    match c {
        // Kana; EUC-JP and GBK have them at the same place.
        '\u{3041}'..='\u{30ff}' if japanese => COMMON,
        '\u{3041}'..='\u{30ff}' => 0,
        // Punctuation and wide forms.
        '\u{3000}'..='\u{303f}' | '\u{ff01}'..='\u{ff5e}' | '“' | '”' | '‘' | '’' | '…' | '—' => {
            PLAUSIBLE
        }
        // Narrow kana are single bytes of nearly every value: anything is made of them.
        '\u{ff61}'..='\u{ff9f}' | '\u{e000}'..='\u{f8ff}' => ODD,
        _ => {
            let written = if encoding == GBK {
                SIMPLIFIED
            } else if encoding == BIG5 {
                TRADITIONAL
            } else if japanese {
                KANJI
            } else {
                HANGUL
            };
            if written.contains(c) { COMMON } else { 0 }
        }
    }
}

/// Whether bytes stand as accented letters of Latin-1 do: one alone beside a letter, or several that
/// are capitals beside a capital.
fn has_accents(bytes: &[u8]) -> bool {
    let letter = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphabetic);
    let capital = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_uppercase);
    let mut at = 0;
    while let Some(start) = bytes[at..].iter().position(|byte| !byte.is_ascii()) {
        let start = at + start;
        let run = bytes[start..].iter().take_while(|byte| !byte.is_ascii());
        let end = start + run.count();
        let (before, after) = (
            start.checked_sub(1).and_then(|at| bytes.get(at)),
            bytes.get(end),
        );
        let run = &bytes[start..end];
        let alone = run.len() == 1 && run[0] >= 0xc0 && (letter(before) || letter(after));
        let capitals = run.iter().all(|byte| (0xc0..=0xde).contains(byte))
            && (capital(before) || capital(after));
        if alone || capitals {
            return true;
        }
        at = end;
    }
    false
}
