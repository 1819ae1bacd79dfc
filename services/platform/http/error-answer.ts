import { type ServerResponse, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { anyOrigin } from '../../core/cross-origin.ts'
import { errorBody, type FailureCode, failures, refusalHeaders } from '../../core/failure.ts'

export interface ErrorAnswer {
  readonly code: FailureCode
  /** Set if it differs from the table of failures, as `message`. */
  readonly status?: number
  readonly message?: string
  /** Further headers; the case of their names is kept. */
  readonly headers?: Readonly<Record<string, string | number>>
}

export const jsonType = 'application/json; charset=utf-8'

function partsOf({ code, status = failures[code].status, message, headers }: ErrorAnswer) {
  const body = JSON.stringify(errorBody(code, message ?? failures[code].message))
  const head = {
    'Content-Type': jsonType,
    'Content-Length': Buffer.byteLength(body),
    'Cache-Control': 'no-store',
    ...anyOrigin,
    ...refusalHeaders(status),
    ...headers,
  }
  return { status, head, body }
}

export function answerError(response: ServerResponse, answer: ErrorAnswer): void {
  const { status, head, body } = partsOf(answer)
  response.writeHead(status, head).end(body)
}

/** Answers a connection whose request has no response, and ends the server's side of it. */
export function endWithError(socket: Duplex, answer: ErrorAnswer): void {
  const { status, head, body } = partsOf(answer)
  const lines = Object.entries({ Connection: 'close', ...head }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  )
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`)
}
