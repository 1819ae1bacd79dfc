import { createHmac } from 'node:crypto'
import { errors, jwtVerify, SignJWT } from 'jose'
import { type UtcMs, utcMs } from '../../core/clocks/feed-clock.ts'
import { type FeedKey, isFeedKey } from '../../core/feeds/compound-key.ts'
import type { Secrets } from '../../platform/credentials/secrets.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Access, CredentialRefusal } from './access.ts'

/** Maximum characters of a token; longer ones are refused. Enough for a hundred feeds. */
const tokenLengthMax = 4_096
/** Minimum characters of a signing key: below 256 bits it could be guessed from a token. */
const secretLengthMin = 32
const algorithm = 'HS256'
const type = 'fxd-feed+jwt'

/**
 * Tokens of collectors: JWTs with the feeds they may push (`feeds`) and their expiry (`exp`). The first signing key
 * signs, and all keys verify. Tokens are not stored: every ingest with the keys accepts them. Removing a key ends
 * all tokens that it signed.
 */
export interface FeedTokens {
  /** Ids of the keys in use, in their order; they do not reveal the keys. Empty if every signing key is too short. */
  readonly keyIds: readonly string[]
  issue(feeds: readonly FeedKey[], until: UtcMs): Promise<string>
  /** The access of the token, or why it is refused. `undefined` if the text is not shaped like a token. */
  read(token: string): Promise<Access | CredentialRefusal> | undefined
}

export function createFeedTokens(signingKeys: Secrets, clock: Clock): FeedTokens {
  const keys = (): readonly Uint8Array[] =>
    signingKeys()
      .map((key) => new TextEncoder().encode(key))
      .filter(({ length }) => length >= secretLengthMin)
  return {
    get keyIds() {
      return keys().map(keyId)
    },
    async issue(feeds, until) {
      const [first] = keys()
      if (first === undefined) throw new Error('no signing key is configured')
      return new SignJWT({ feeds: [...feeds] })
        .setProtectedHeader({ alg: algorithm, typ: type })
        .setIssuedAt(Math.floor(clock.utcMs() / 1_000))
        .setExpirationTime(Math.floor(until / 1_000))
        .sign(first)
    },
    read(token) {
      if (token.length > tokenLengthMax || !/^[\w-]+\.[\w-]+\.[\w-]+$/.test(token)) return undefined
      return verifyByAny(token, keys(), clock)
    },
  }
}

const keyIdLength = 16

/** The text is never the signing input of a token, so an id is never part of a signature. */
const keyId = (key: Uint8Array): string =>
  createHmac('sha256', key).update('id of a signing key').digest('hex').slice(0, keyIdLength)

async function verifyByAny(
  token: string,
  keys: readonly Uint8Array[],
  clock: Clock,
): Promise<Access | CredentialRefusal> {
  for (const key of keys) {
    const found = await verify(token, key, clock)
    if (found !== unknownCredential) return found
  }
  return unknownCredential
}

async function verify(token: string, secret: Uint8Array, clock: Clock): Promise<Access | CredentialRefusal> {
  try {
    const { payload } = await jwtVerify(token, secret, {
      algorithms: [algorithm],
      typ: type,
      requiredClaims: ['exp', 'feeds'],
      currentDate: new Date(clock.utcMs()),
    })
    const { feeds, exp = 0 } = payload
    if (!Array.isArray(feeds) || !feeds.every((feed) => typeof feed === 'string' && isFeedKey(feed)))
      return unknownCredential
    return { mayAdminister: false, feeds: new Set(feeds), until: utcMs(exp * 1_000) }
  } catch (cause) {
    return cause instanceof errors.JWTExpired ? expiredCredential : unknownCredential
  }
}

export const unknownCredential: CredentialRefusal = {
  fault: 'unknown',
  message:
    'the credential is missing or unknown: send the metadata "authorization: Bearer <token>" with the ' +
    'administration token or a token of "fxd feeds token", or use a certificate of the trusted authority',
}
export const expiredCredential: CredentialRefusal = {
  fault: 'expired',
  message: 'the credential has expired; "fxd feeds token" issues another',
}
