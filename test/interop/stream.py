"""A WebSocket client in Python. It sends every line on stdin as a text frame and prints every frame as a
line. It prints a refused upgrade or a close as a separate line of JSON.

usage: stream.py URL [HEADER VALUE]
"""

import asyncio
import json
import sys

import websockets


async def main() -> None:
    url, *header = sys.argv[1:]
    try:
        socket = await websockets.connect(url, additional_headers=[tuple(header)] if header else None)
    except websockets.exceptions.InvalidStatus as refusal:
        response = refusal.response
        print(json.dumps({"refused": response.status_code, "body": json.loads(response.body)}), flush=True)
        return

    async def forward() -> None:
        loop = asyncio.get_running_loop()
        while line := await loop.run_in_executor(None, sys.stdin.readline):
            await socket.send(line.strip())
        await socket.close()

    forwarding = asyncio.create_task(forward())
    try:
        async for frame in socket:
            print(frame, flush=True)
    except websockets.exceptions.ConnectionClosed:
        pass
    print(json.dumps({"closed": socket.close_code, "reason": socket.close_reason}), flush=True)
    forwarding.cancel()


asyncio.run(main())
