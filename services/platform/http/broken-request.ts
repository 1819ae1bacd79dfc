import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { anyOrigin } from '../../core/cross-origin.ts'
import { errorBody, failures } from '../../core/failure.ts'

interface Answer {
  readonly status: number
  readonly message: string
}

const answers: Readonly<Record<string, Answer>> = {
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, message: 'The request did not arrive in time.' },
  HPE_HEADER_OVERFLOW: { status: 431, message: 'The request line and headers are longer than 16 KiB.' },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: { status: 413, message: 'The chunk extensions are too long.' },
}

const jsonType = 'application/json; charset=utf-8'
const bodyOf = (message: string): string => JSON.stringify(errorBody('BAD_REQUEST', message))

/** A name or an address with an optional port, as RFC 9110 has it. It may be empty. */
const hostShape = /^(?:\[[\w.:%~-]+\]|[\w.~%!$&'()*+,;=-]*)(?::\d*)?$/

/** The answer to a request that HTTP/1.1 does not allow; `undefined`: its head is valid. */
export function headFault({ httpVersion, headers, headersDistinct }: IncomingMessage): Answer | undefined {
  if (httpVersion === '1.1' && headers.host === undefined)
    return { status: 400, message: 'The request has no Host header.' }
  if ((headersDistinct['host']?.length ?? 0) > 1)
    return { status: 400, message: 'The request has more than one Host header.' }
  if (!hostShape.test(headers.host ?? '')) return { status: 400, message: 'The Host header is invalid.' }
  if (headers.expect !== undefined && headers.expect.toLowerCase() !== '100-continue')
    return { status: 417, message: 'The header Expect may only be 100-continue.' }
  return undefined
}

/** Answers with the error body and closes the connection. */
export function answerFault(response: ServerResponse, { status, message }: Answer): void {
  const body = bodyOf(message)
  response.writeHead(status, {
    'Content-Type': jsonType,
    'Content-Length': Buffer.byteLength(body),
    Connection: 'close',
    ...anyOrigin,
  })
  response.end(body)
}

/**
 * Answers bytes that could not be parsed as a request, which no handler saw. The error is not logged: its text
 * may contain raw bytes of the request, and with them a key.
 */
export function answerBrokenRequest(code: string | undefined, socket: Duplex): void {
  if (code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const { status, message } = answers[code ?? ''] ?? failures.BAD_REQUEST
  const body = bodyOf(message)
  const headers = {
    'Content-Type': jsonType,
    'Content-Length': Buffer.byteLength(body),
    Connection: 'close',
    ...anyOrigin,
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`, () =>
    socket.destroy(),
  )
}
