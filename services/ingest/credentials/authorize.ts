import { X509Certificate } from 'node:crypto'
import {
  type Metadata,
  type ServerInterceptingCallInterface,
  type ServerInterceptor,
  status,
} from '@grpc/grpc-js'
import { utcMs } from '../../core/clocks/feed-clock.ts'
import { type FeedKey, isFeedKey } from '../../core/feeds/compound-key.ts'
import type { Secrets } from '../../platform/credentials/secrets.ts'
import type { Clock } from '../../ports/clock.ts'
import { authorizeCalls } from '../../wire/authorize-calls.ts'
import { bearerOf, tokenCheck } from '../../wire/bearer.ts'
import { type Access, administration, type CredentialFault, type CredentialRefusal } from './access.ts'
import { expiredCredential, type FeedTokens, unknownCredential } from './feed-tokens.ts'

const admin = 'fxd://admin'
const feedUri = 'fxd://feed/'

/**
 * What a client certificate of a trusted authority allows, by its URI names: `fxd://admin` everything,
 * `fxd://feed/BROKER:ACCOUNT` one feed each. TLS checked its dates at the start of the connection, or of the
 * session that it resumes. So the expiry is checked again for each call.
 */
function certificateAccess(raw: Buffer, clock: Clock): Access | CredentialRefusal {
  const certificate = new X509Certificate(raw)
  const until = utcMs(certificate.validToDate.getTime())
  if (clock.utcMs() >= until) return expiredCredential
  const uris = urisOf(certificate.subjectAltName ?? '')
  if (uris.includes(admin)) return { mayAdminister: true, feeds: 'all', until }
  const named = uris.flatMap((uri) => (uri.startsWith(feedUri) ? [uri.slice(feedUri.length)] : []))
  return { mayAdminister: false, feeds: new Set<FeedKey>(named.filter(isFeedKey)), until }
}

/** The URI names. A name with commas or quotes is quoted; none of ours is, so quoted names are left out. */
const urisOf = (names: string): string[] =>
  names
    .replace(/"(?:[^"\\]|\\.)*"/g, '')
    .split(', ')
    .flatMap((name) => (name.startsWith('URI:') ? [name.slice('URI:'.length)] : []))

/** Calls that a collector may make; all other calls need administration. */
const collectorPath = '/fxd.v1.Collector/'

export interface Authorizer {
  /** Refuses calls without a valid credential before they reach a service. */
  readonly interceptor: ServerInterceptor
  accessOf(metadata: Metadata): Access
}

export interface AuthorizerDeps {
  /** Tokens of administration. */
  readonly tokens: Secrets
  readonly feedTokens: FeedTokens
  readonly clock: Clock
  readonly refused: (fault: CredentialFault) => void
  readonly passed: (path: string, peer: string) => void
}

export function createAuthorizer(deps: AuthorizerDeps): Authorizer {
  const { tokens, feedTokens, clock, refused, passed } = deps
  const isAdministration = tokenCheck(tokens)
  const accesses = new WeakMap<Metadata, Access>()

  const authorize = (metadata: Metadata, call: ServerInterceptingCallInterface) => {
    if (metadata.get('authorization').length > 0) {
      const given = bearerOf(metadata)
      if (given === undefined) return unknownCredential
      return isAdministration(given) ? administration : (feedTokens.read(given) ?? unknownCredential)
    }
    // Only set if TLS trusts its authority and its dates are valid.
    const certificate = call.getAuthContext().sslPeerCertificate
    return certificate
      ? certificateAccess(certificate.raw, clock)
      : { ...unknownCredential, fault: 'missing' as const }
  }

  return {
    interceptor: authorizeCalls(async (path, metadata, call) => {
      const found = await authorize(metadata, call)
      if (!('fault' in found) && mayCall(found, path)) {
        accesses.set(metadata, found)
        return undefined
      }
      const { fault, message } = 'fault' in found ? found : notAdministration
      refused(fault)
      return { code: codes[fault], details: message }
    }, passed),
    accessOf(metadata) {
      const access = accesses.get(metadata)
      if (!access) throw new Error('a call bypassed the authorizer')
      return access
    },
  }
}

const mayCall = ({ mayAdminister }: Access, path: string): boolean =>
  mayAdminister || path.startsWith(collectorPath)

const notAdministration: CredentialRefusal = {
  fault: 'not_administration',
  message: 'this credential may push bars only; the call needs an administration credential',
}

const codes = {
  missing: status.UNAUTHENTICATED,
  unknown: status.UNAUTHENTICATED,
  expired: status.UNAUTHENTICATED,
  not_administration: status.PERMISSION_DENIED,
} as const satisfies Record<CredentialFault, status>
