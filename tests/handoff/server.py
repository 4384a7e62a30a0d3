"""Turns the shop's effects file into a real MCP server, over stdio (default) or HTTP on the loopback interface."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

from mcp.server.mcpserver import MCPServer
from pydantic import BaseModel, Field

file = Path(sys.argv[1])
server = MCPServer("shop")


class Look(BaseModel):
    order: str
    price: float


class Slip(BaseModel):
    slip: str


class Label(BaseModel):
    label: str


def note(what: str) -> None:
    with file.open("a") as out:
        out.write(what + "\n")


def done() -> list[str]:
    return file.read_text().split() if file.exists() else []


@server.tool()
def look(order: str) -> Look:
    return Look(order=order, price=12.5)


@server.tool()
def stock(order: str) -> dict[str, int]:
    return {"left": 3}


@server.tool()
def charge(order: str, amount: Annotated[float, Field(gt=0)]) -> Slip:
    note("charge")
    return Slip(slip="slip-1")


@server.tool()
def charges(order: str) -> dict[str, bool]:
    return {"charged": "charge" in done()}


@server.tool()
def mail(order: str) -> str:
    if os.environ.get("REFUSES"):
        raise ValueError("the mail server refuses")
    note("mail")
    if os.environ.get("DIES") and done().count("died") == 0:
        note("died")
        os._exit(1)
    return "sent"


@server.tool()
def outbox(order: str) -> dict[str, bool]:
    return {"sent": "mail" in done()}


@server.tool()
def tag(order: str) -> str:
    note("tag")
    return "tagged"


@server.tool()
def ship(order: str, slip: str) -> Label:
    note("ship")
    return Label(label="label-1")


if __name__ == "__main__":
    if len(sys.argv) > 2:
        server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[2]))
    else:
        server.run("stdio")
