"""The floor that the server is measured against: an ASGI function on stock uvicorn that parses and echoes the uid.

python tests/bench/echo.py CERT_DIR    prints its port, and serves until it is ended
"""

from __future__ import annotations

import asyncio
import socket
import sys
from pathlib import Path
from typing import Any

import orjson
import uvicorn


async def echo(scope: Any, receive: Any, send: Any) -> None:
    body = b""
    more = True
    while more:
        message = await receive()
        body += message["body"]
        more = message["more_body"]
    review = orjson.loads(body)
    answer = orjson.dumps(
        {
            "apiVersion": review["apiVersion"],
            "kind": review["kind"],
            "response": {"uid": review["request"]["uid"], "allowed": True},
        }
    )
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(answer))]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": answer})


def main(folder: Path) -> None:
    config = uvicorn.Config(
        echo,
        loop="uvloop",
        http="httptools",
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        date_header=False,
        timeout_keep_alive=120,
        ssl_certfile=folder / "tls.crt",
        ssl_keyfile=folder / "tls.key",
    )
    with socket.create_server(("127.0.0.1", 0), backlog=1024) as bound:
        print(bound.getsockname()[1], flush=True)
        server = uvicorn.Server(config)
        with asyncio.Runner(loop_factory=config.get_loop_factory()) as runner:
            runner.run(server.serve(sockets=[bound]))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
