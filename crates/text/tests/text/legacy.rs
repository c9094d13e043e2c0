//! Which of the encodings before UTF-8: short texts, where there is little to go by.

use encoding_rs::{BIG5, EUC_JP, EUC_KR, Encoding, GBK, SHIFT_JIS, WINDOWS_1251, WINDOWS_1252};
use outfitter_text::legacy::guess;

/// Whole texts as programs print them.
const SHORT: &[(&Encoding, &[&str])] = &[
    (
        GBK,
        &[
            "你好",
            "你好\n",
            "中文",
            "测试",
            "错误",
            "文件不存在",
            "世界",
            "是",
            "好",
            "完成。",
            "error: 文件不存在\n",
            "你好,世界",
            "“你好”",
            "北京 2024年",
            "C:\\用户\\文件.txt",
            "请输入密码：",
            "登录失败",
            "a=值\n",
            "命令语法不正确。\r\n",
            "系统找不到指定的路径。\r\n",
            "拒绝访问。\r\n",
        ],
    ),
    (
        BIG5,
        &["你好嗎", "繁體中文", "這是測試", "檔案不存在\n", "錯誤"],
    ),
    (
        SHIFT_JIS,
        &[
            "こんにちは",
            "日本語",
            "テスト",
            "ファイルがありません\n",
            "error: ファイル\n",
            "エラー",
        ],
    ),
    (EUC_JP, &["こんにちは", "ファイルがありません\n"]),
    (
        EUC_KR,
        &["안녕하세요", "한국어", "파일이 없습니다\n", "테스트"],
    ),
    (
        WINDOWS_1252,
        &[
            "café",
            "é",
            "Müller",
            "ÄRGER",
            "PÄÄ",
            "Ünal",
            "naïve\n",
            "São Paulo",
            "año",
            "El Niño",
            "“quoted”",
            "it’s",
            "10 €",
            "£5",
            "25 °C",
            "größe: 5",
            "tête-à-tête",
            "ÉTÉ",
            "façade — déjà vu",
            "©2024",
            "Åse Ødegård",
            "français",
            "¿Qué?",
            "CRÉÉE",
            "½",
        ],
    ),
    (WINDOWS_1251, &["Привет, мир", "Ошибка: неверный пароль\n"]),
];

#[test]
fn a_short_text_is_read_in_the_encoding_it_was_written_in() {
    let mut wrong = Vec::new();
    for (encoding, texts) in SHORT {
        for text in *texts {
            let (bytes, _, lossy) = encoding.encode(text);
            assert!(!lossy, "{text} cannot be written in {}", encoding.name());
            let guessed = guess(&bytes, true);
            let read = guessed.encoding.decode_without_bom_handling(&bytes).0;
            if read != *text {
                let name = guessed.encoding.name();
                wrong.push(format!(
                    "{text:?} of {} as {name}: {read:?}",
                    encoding.name()
                ));
            }
            assert!(guessed.doubtful, "{text}");
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
