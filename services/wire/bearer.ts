import { createHash, timingSafeEqual } from 'node:crypto'
import type { Metadata } from '@grpc/grpc-js'

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest()

/** The token of `authorization: Bearer <token>`; `undefined` when it is missing, given twice or something else. */
export function bearerOf(metadata: Metadata): string | undefined {
  const [given, ...more] = metadata.get('authorization')
  const match = typeof given === 'string' && more.length === 0 ? /^bearer +(\S+)$/i.exec(given) : null
  return match?.[1]
}

/** Compares digests in constant time: neither a token's length nor its beginning shows in the timing. */
export function tokenCheck(wanted: () => readonly string[]): (given: string) => boolean {
  return (given) => {
    const digest = sha256(given)
    let isWanted = false
    for (const each of wanted()) isWanted = timingSafeEqual(sha256(each), digest) || isWanted
    return isWanted
  }
}
