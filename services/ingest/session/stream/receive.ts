import { hash } from 'node:crypto'
import { decodeBars, type ReceivedBars, receivedBars } from '../../../wire/decode-bars.ts'
import type { CollectorMessage__Output } from '../../../wire/gen/fxd/v1/CollectorMessage.ts'
import { Collector } from '../../../wire/load.ts'

/**
 * A received message. If neither `bars` nor `message` is set, the bytes were no message of this protocol. A
 * `message` without any field is empty, or newer than this protocol.
 */
export interface Received {
  readonly bars?: ReceivedBars | undefined
  readonly message?: CollectorMessage__Output | undefined
  /** Hash of the bytes: tells a repeated message from another message with the same sequence. */
  readonly digest: string
}

const { requestDeserialize } = Collector.service.Session

/** Decodes a message. Bytes that cannot be decoded must not throw: the library would answer INTERNAL. */
export function receive(bytes: Buffer): Received {
  const digest = (): string => hash('sha256', bytes, 'base64')
  try {
    const plain = decodeBars(bytes)
    if (plain) return { bars: plain, digest: digest() }
    const message = requestDeserialize(bytes)
    if (message.bars) return { bars: receivedBars(message.bars), digest: digest() }
    // Only messages with a sequence are compared.
    return { message, digest: message.window ? digest() : '' }
  } catch {
    return { digest: '' }
  }
}
