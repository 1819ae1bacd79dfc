"""Asks one path with the query parameters on each line of stdin, a JSON object, with requests and with urllib.
It prints the query text that was sent and the answer of each as a line of JSON.

usage: query.py URL KEY
"""

import json
import sys
from urllib.parse import quote, quote_plus, urlencode
from urllib.request import Request, urlopen

import requests


def main() -> None:
    url, key = sys.argv[1:]
    headers = {"X-API-Key": key}
    for line in sys.stdin:
        parameters = json.loads(line)
        answer = requests.get(url, params=parameters, headers=headers, timeout=10)
        show(answer.request.url, answer.json())
        for encoding in (quote_plus, quote):
            query = urlencode(parameters, quote_via=encoding)
            with urlopen(Request(f"{url}?{query}", headers=headers), timeout=10) as response:
                show(response.url, json.load(response))


def show(url: str, body: object) -> None:
    print(json.dumps({"query": url.split("?", 1)[1], "body": body}), flush=True)


main()
