import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type ErrorAnswer, endWithError } from './error-answer.ts'

const bad = (status: number, message: string): ErrorAnswer => ({ code: 'BAD_REQUEST', status, message })

const answers: Readonly<Record<string, ErrorAnswer>> = {
  ERR_HTTP_REQUEST_TIMEOUT: bad(408, 'The request did not arrive in time.'),
  HPE_HEADER_OVERFLOW: bad(431, 'The request line and headers are longer than 16 KiB.'),
  HPE_CHUNK_EXTENSIONS_OVERFLOW: bad(413, 'The chunk extensions are too long.'),
}

/** A name or an address with an optional port, as RFC 9110 has it. It may be empty. */
const hostShape = /^(?:\[[\w.:%~-]+\]|[\w.~%!$&'()*+,;=-]*)(?::\d*)?$/

/** The answer to a request that HTTP/1.1 does not allow; `undefined`: its head is valid. */
export function headFault({
  httpVersion,
  headers,
  headersDistinct,
}: IncomingMessage): ErrorAnswer | undefined {
  if (httpVersion === '1.1' && headers.host === undefined) return bad(400, 'The request has no Host header.')
  if ((headersDistinct['host']?.length ?? 0) > 1)
    return bad(400, 'The request has more than one Host header.')
  if (!hostShape.test(headers.host ?? '')) return bad(400, 'The Host header is invalid.')
  if (headers.expect !== undefined && headers.expect.toLowerCase() !== '100-continue')
    return bad(417, 'The header Expect may only be 100-continue.')
  return undefined
}

/** Answers bytes that are no request. The error is not logged: its text may contain bytes of it, and with them a key. */
export function answerBrokenRequest(code: string | undefined, socket: Duplex): void {
  if (code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  socket.once('finish', () => socket.destroy())
  endWithError(socket, answers[code ?? ''] ?? { code: 'BAD_REQUEST' })
}
