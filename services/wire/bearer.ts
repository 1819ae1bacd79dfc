import { hash, timingSafeEqual } from 'node:crypto'
import type { Metadata } from '@grpc/grpc-js'

const sha256 = (text: string): Buffer => hash('sha256', text, 'buffer')

/** The token of `authorization: Bearer <token>`; `undefined` if it is missing, repeated or malformed. */
export function bearerOf(metadata: Metadata): string | undefined {
  const [given, ...more] = metadata.get('authorization')
  const match = typeof given === 'string' && more.length === 0 ? /^bearer +(\S+)$/i.exec(given) : null
  return match?.[1]
}

/** Returns a check against the wanted tokens. It compares digests, so its time shows nothing of a token. */
export function tokenCheck(wanted: () => readonly string[]): (given: string) => boolean {
  return (given) => {
    const digest = sha256(given)
    let isWanted = false
    for (const each of wanted()) isWanted = timingSafeEqual(sha256(each), digest) || isWanted
    return isWanted
  }
}
