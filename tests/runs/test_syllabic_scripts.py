"""Answers in scripts without spaces between words that spell a syllable with several signs; the built-in model."""

from __future__ import annotations

from pathlib import Path

import pytest

import assay

LINES = {
    "th": (
        "ท่าเรือแหลมทองเปิดใช้งานเมื่อปี 1912 โดยบริษัทขนส่งทางทะเล",
        "ประภาคารบนเกาะสูงสี่สิบเมตรและสร้างด้วยหินสีขาว",
        "ตลาดปลาอยู่ข้างสถานีรถไฟ และเปิดทุกเช้าวันเสาร์",
        "พิพิธภัณฑ์เรือเก็บแผนที่เก่าไว้มากกว่าสามร้อยแผ่น",
    ),
    "lo": (
        "ທ່າເຮືອແຫຼມທອງເປີດນຳໃຊ້ໃນປີ 1912 ໂດຍບໍລິສັດຂົນສົ່ງ",
        "ປະພາຄານຢູ່ເກາະສູງສີ່ສິບແມັດ ແລະ ກໍ່ສ້າງດ້ວຍຫີນສີຂາວ",
        "ຕະຫຼາດປາຢູ່ຂ້າງສະຖານີລົດໄຟ ແລະ ເປີດທຸກເຊົ້າວັນເສົາ",
        "ຫໍພິພິທະພັນເຮືອເກັບແຜນທີ່ເກົ່າໄວ້ຫຼາຍກວ່າສາມຮ້ອຍແຜ່ນ",
    ),
}


@pytest.fixture
def folder(tmp_path: Path, language: str) -> Path:
    for number, line in enumerate(LINES[language]):
        (tmp_path / f"{number}.md").write_text(f"# {number}\n\n{line}\n")
    return tmp_path


@pytest.mark.parametrize(
    ("language", "question", "answer"),
    [
        ("th", "ท่าเรือแหลมทองเปิดใช้งานเมื่อใด", 0),
        ("th", "ประภาคารบนเกาะสูงกี่เมตร", 1),
        ("th", "ตลาดปลาอยู่ที่ไหน", 2),
        ("th", "พิพิธภัณฑ์เรือเก็บแผนที่เก่าไว้กี่แผ่น", 3),
        ("lo", "ທ່າເຮືອແຫຼມທອງເປີດນຳໃຊ້ໃນປີໃດ", 0),
        ("lo", "ຕະຫຼາດປາຢູ່ຂ້າງຫຍັງ", 2),
    ],
)
async def test_a_question_is_answered_by_its_sentence(folder: Path, language: str, question: str, answer: int):
    report = await assay.research(question, sources=[str(folder)])
    opening = report.markdown.partition("\n#")[0]
    assert report.stop_reason != "no_evidence"
    assert LINES[language][answer] in opening


@pytest.mark.parametrize("language", ["th"])
async def test_what_no_sentence_tells_is_not_answered(folder: Path):
    report = await assay.research("ใครเป็นผู้ว่าการจังหวัดเชียงใหม่คนแรก", sources=[str(folder)])
    assert report.stop_reason == "no_evidence"
