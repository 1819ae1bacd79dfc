import { hash } from 'node:crypto'
import { decodeBars, type ReceivedBars, receivedBars } from '../../wire/decode-bars.ts'
import type { CollectorMessage__Output } from '../../wire/gen/fxd/v1/CollectorMessage.ts'
import { Collector } from '../../wire/load.ts'

/**
 * A message as it came off the wire; with neither, the bytes were no message of this protocol. A `message` of
 * which nothing is set is empty, or newer than this protocol.
 */
export interface Received {
  readonly bars?: ReceivedBars | undefined
  /** Any other message. */
  readonly message?: CollectorMessage__Output | undefined
  /** Of the bytes, by which a repeated sequence is told from a conflicting one. */
  readonly digest: string
}

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
