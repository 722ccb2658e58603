"""Writes a dict as TOML, which the standard library only reads."""
import json


def toml_of(table):
    """Returns the table as TOML."""
    return "".join(line for _, line in lines_of(table))


def lines_of(table):
    """Returns the lines of the table as TOML, each behind the name of the part that it has.

    Each table of a list has a line of its own, and a name such as "task 3". The name of the other lines is "".
    """
    lines = []
    for key, value in ((str(key), value) for key, value in table.items()):
        if not isinstance(value, (list, tuple)) or not all(isinstance(each, dict) for each in value):
            lines.append(("", f"{_text_of(key)} = {_value_of(value, key)}\n"))
            continue
        lines.append(("", f"{_text_of(key)} = [\n"))
        for number, each in enumerate(value, 1):
            lines.append((f"{key} {number}", f"{_value_of(each, f'{key} {number}')},\n"))
        lines.append(("", "]\n"))
    return lines


def _text_of(text):
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value_of(value, place):
    if hasattr(value, "item"):  # a bool or a number of numpy
        value = value.item()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _text_of(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_text_of(str(key))} = {_value_of(each, f'{place}.{key}')}" for key, each in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_value_of(each, place) for each in value) + "]"
    if isinstance(value, (int, float)):
        return repr(value)
    raise TypeError(f"{place} is a {type(value).__name__}; write a text, a number, a bool, a list or a dict")
