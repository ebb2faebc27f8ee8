"""A made-up conversation in the form of LoCoMo."""

from typing import Any

CONVERSATION: dict[str, Any] = {
    "sample_id": "made-up",
    "conversation": {
        "speaker_a": "Anna",
        "speaker_b": "Boris",
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [
            {"speaker": "Anna", "dia_id": "D1:1", "text": "Which instrument do you play?"},
            {"speaker": "Boris", "dia_id": "D1:2", "text": "The cello, for ten years."},
            {
                "speaker": "Anna",
                "dia_id": "D1:3",
                "text": "Look at this!",
                "blip_caption": "a photo of a harbour",
            },
        ],
        "session_2_date_time": "12:05 am on 1 June, 2023",
        "session_2": [
            {"speaker": "Boris", "dia_id": "D2:1", "text": "I moved to Lisbon."},
            {"speaker": "Anna", "dia_id": "D2:2", "text": "Good luck with the boxes."},
        ],
        "session_3_date_time": "9:00 am on 2 June, 2023",
    },
    "qa": [
        {
            "question": "Which instrument does Boris play?",
            "answer": "cello",
            "evidence": ["D1:2"],
            "category": 4,
        },
        {
            "question": "Where did Boris move in June 2023?",
            "answer": "Lisbon",
            "evidence": ["D2:1"],
            "category": 2,
        },
        {
            "question": "What did Anna photograph, and what did she wish?",
            "answer": "a harbour, good luck",
            "evidence": ["D1:3; D2:2", "D"],
            "category": 1,
        },
        {"question": "Nobody knows?", "answer": "", "evidence": ["D9:9"], "category": 3},
        {"question": "Never said?", "evidence": ["D1:1"], "category": 5},
    ],
}
