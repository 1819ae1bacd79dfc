import type { IncomingMessage } from 'node:http'
import type { ErrorAnswer } from '../../platform/http/error-answer.ts'

const keyShape = /^[+/0-9A-Za-z]{22}==$/
/** A token of RFC 9110 with the spaces around it. It must take linear time: a header may be 16 KiB of spaces. */
const spacedToken = /^[ \t]*([!#$%&'*+.^_`|~0-9A-Za-z-]+)[ \t]*$/
const versions = new Set(['13', '8'])

/** Must be called before a slot is taken, so that a broken client does not count as a connection. */
export function checkHandshake({ headers }: Pick<IncomingMessage, 'headers'>): ErrorAnswer | undefined {
  if (headers.upgrade?.toLowerCase() !== 'websocket') return { code: 'UPGRADE_REQUIRED' }
  if (!versions.has(headers['sec-websocket-version'] ?? '')) {
    return {
      code: 'UPGRADE_REQUIRED',
      message: 'The header Sec-WebSocket-Version is missing or unknown; it must be 13.',
      headers: { 'Sec-WebSocket-Version': 13 },
    }
  }
  if (!keyShape.test(headers['sec-websocket-key'] ?? ''))
    return {
      code: 'BAD_REQUEST',
      message: 'The header Sec-WebSocket-Key is missing or malformed; it must be 16 bytes in base64.',
    }
  if (!areProtocols(headers['sec-websocket-protocol']))
    return {
      code: 'BAD_REQUEST',
      message: 'The header Sec-WebSocket-Protocol is malformed; it must be a list of different names.',
    }
  return undefined
}

function areProtocols(header: string | undefined): boolean {
  if (header === undefined) return true
  const names = header.split(',').map((name) => spacedToken.exec(name)?.[1])
  return new Set(names).size === names.length && !names.includes(undefined)
}
