import { hash } from 'node:crypto'
import { decodeBars, receivedBars } from '../../wire/decode-bars.ts'
import { Collector } from '../../wire/load.ts'
import type { Received } from './session.ts'

const { requestDeserialize } = Collector.service.Session

/** A message of a collector; bytes that are none end their own session with a sentence instead of the library's INTERNAL. */
export function receive(bytes: Buffer): Received {
  const digest = (): string => hash('sha256', bytes, 'base64')
  try {
    const plain = decodeBars(bytes)
    if (plain) return { bars: plain, digest: digest() }
    const message = requestDeserialize(bytes)
    if (message.bars) return { bars: receivedBars(message.bars), digest: digest() }
    // Only what carries a sequence is ever compared.
    return { message, digest: message.window ? digest() : '' }
  } catch {
    return { digest: '' }
  }
}
