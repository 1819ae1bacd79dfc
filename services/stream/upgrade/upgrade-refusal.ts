import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { errorBody, type FailureCode, failures, refusalHeaders, upgradeStatus } from '../../core/failure.ts'

export interface Refusal {
  readonly code: FailureCode
  readonly message?: string
  /** Set if it differs from the table of failures. */
  readonly status?: number
  /** The case of the names is kept. */
  readonly headers?: Readonly<Record<string, string | number>>
}

/** Thrown while an upgrade is checked. */
export class UpgradeRefused extends Error {
  readonly refusal: Refusal
  constructor(refusal: Refusal, cause?: unknown) {
    super(refusal.code, { cause })
    this.refusal = refusal
  }
}

/** Answers an upgrade request over plain HTTP and ends the server's side of the connection. */
export function refuse(socket: Duplex, { code, message, status, headers = {} }: Refusal): void {
  const number = status ?? upgradeStatus(code)
  const body = JSON.stringify(errorBody(code, message ?? failures[code].message))
  const head = Object.entries({
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    'Cache-Control': 'no-store',
    Connection: 'close',
    ...refusalHeaders(number),
    ...headers,
  })
  const lines = head.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  // Reads what the client still sends; otherwise its end of the connection is never seen.
  socket.resume()
  socket.end(`HTTP/1.1 ${number} ${STATUS_CODES[number]}\r\n${lines}\r\n${body}`)
}
