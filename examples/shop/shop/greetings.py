"""Words for customers, in several scripts."""

from __future__ import annotations

from .checkout import Order

GREETINGS = {
    "de": "Schöne Grüße",
    "en": "Thank you",
    "ja": "ありがとうございます",
    "zh": "谢谢惠顾",
}


def 挨拶(language: str) -> str:
    """The greeting in a language; English where there is none."""
    return GREETINGS.get(language, GREETINGS["en"])


def receipt(order: Order, language: str = "en") -> str:
    """What is printed for the customer, with a 🧾 at its head."""
    head = f"🧾🍵 {挨拶(language)}, {order.customer}! 🎉"
    rows = {
        "📦 goods": order.goods,
        "🎁 off": order.discount,
        "🚚 sent": order.shipping,
        "💶 total": order.total(),
    }
    return "\n".join([head, *(f"{name}: {amount}" for name, amount in rows.items())])
