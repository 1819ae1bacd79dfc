import { createHash, timingSafeEqual } from 'node:crypto'
import type { Metadata } from '@grpc/grpc-js'

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest()

/** The token of `authorization: Bearer <token>`; `undefined` when it is missing, given twice or something else. */
export function bearerOf(metadata: Metadata): string | undefined {
  const [given, ...more] = metadata.get('authorization')
  const match = typeof given === 'string' && more.length === 0 ? /^bearer +(\S+)$/i.exec(given) : null
  return match?.[1]
}

/** Compares digests in constant time: neither the token's length nor its beginning shows in the timing. */
export function tokenCheck(wanted: string): (given: string) => boolean {
  const digest = sha256(wanted)
  return (given) => timingSafeEqual(sha256(given), digest)
}
