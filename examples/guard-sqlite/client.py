"""Turns a list of calls that a hurried model might make into a real MCP session, and prints what comes of each.

python client.py COMMAND…        # the command starts an MCP server over stdio: here, the guard
"""

from __future__ import annotations

import sys

import anyio
from mcp import ClientSession, StdioServerParameters, stdio_client

QUESTION = "SELECT count(*) AS n FROM customers WHERE email = 'ada@example.com'"
ROW = "INSERT INTO customers VALUES ('ada@example.com', 'Ada')"

CALLS = [
    ("create_table", "CREATE TABLE customers (email TEXT, name TEXT)"),  # to be safe
    ("write_query", ROW),  # before looking
    ("read_query", QUESTION),
    ("write_query", "INSERT INTO customers VALUES ('ada@exarnple.com', 'Ada')"),  # r n is not m
    ("write_query", "DROP TABLE customers"),
    ("write_query", ROW),
    ("write_query", ROW),  # once more: did it work?
    ("read_query", QUESTION),
    ("write_query", ROW),  # everything is done
]


async def session(command: list[str]) -> None:
    parameters = StdioServerParameters(command=command[0], args=command[1:])
    async with stdio_client(parameters) as (read, write), ClientSession(read, write) as client:
        await client.initialize()
        print("tools:", ", ".join(t.name for t in (await client.list_tools()).tools))
        for tool, query in CALLS:
            result = await client.call_tool(tool, {"query": query})
            said = " ".join(block.text for block in result.content if block.type == "text")
            print(f"{tool}: {query}")
            print("   ", said.splitlines()[0])


if __name__ == "__main__":
    anyio.run(session, sys.argv[1:])
