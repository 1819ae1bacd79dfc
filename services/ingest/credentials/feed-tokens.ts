import { errors, jwtVerify, SignJWT } from 'jose'
import { type UtcMs, utcMs } from '../../core/clocks/feed-clock.ts'
import { type FeedKey, isFeedKey } from '../../core/feeds/compound-key.ts'
import type { Secrets } from '../../platform/credentials/secrets.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Access, CredentialRefusal } from './access.ts'

/** Longer tokens are not looked at; room for a hundred feeds. */
const tokenLengthMax = 4_096
/** A secret below 256 bits could be guessed from a token that it signed. */
const secretLengthMin = 32
const algorithm = 'HS256'
const type = 'fxd-feed+jwt'

/**
 * Tokens of collectors: JWTs that name the feeds they may push (`feeds`) and when they end (`exp`). The first
 * signing key signs, all verify. Nothing is stored of them, so every ingest that has the keys knows them, and a
 * key that is taken away ends what it signed.
 */
export interface FeedTokens {
  /** False: the signing key is too short. */
  readonly areSigned: boolean
  issue(feeds: readonly FeedKey[], until: UtcMs): Promise<string>
  /** `undefined` for what has not the shape of such a token. */
  read(token: string): Promise<Access | CredentialRefusal> | undefined
}

export function createFeedTokens(signingKeys: Secrets, clock: Clock): FeedTokens {
  const keys = (): readonly Uint8Array[] =>
    signingKeys()
      .map((key) => new TextEncoder().encode(key))
      .filter(({ length }) => length >= secretLengthMin)
  return {
    get areSigned() {
      return keys().length > 0
    },
    async issue(feeds, until) {
      const [first] = keys()
      if (first === undefined) throw new Error('there is no signing key')
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

async function verifyByAny(
  token: string,
  keys: readonly Uint8Array[],
  clock: Clock,
): Promise<Access | CredentialRefusal> {
  for (const key of keys) {
    const found = await verify(token, key, clock)
    if (found !== unknown) return found
  }
  return unknown
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
      return unknown
    return { mayAdminister: false, feeds: new Set(feeds), until: utcMs(exp * 1_000) }
  } catch (cause) {
    return cause instanceof errors.JWTExpired ? expired : unknown
  }
}

export const unknown: CredentialRefusal = {
  fault: 'unknown',
  message:
    'the credential is not one of this service: it wants the metadata "authorization: Bearer <token>" with its ' +
    'own token or one of "fxd feeds token", or a client certificate of its authority',
}
export const expired: CredentialRefusal = {
  fault: 'expired',
  message: 'the credential has expired; "fxd feeds token" issues another',
}
