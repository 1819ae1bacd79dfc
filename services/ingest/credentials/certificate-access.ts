import { X509Certificate } from 'node:crypto'
import { type FeedKey, isFeedKey } from '../../core/compound-key.ts'
import { utcMs } from '../../core/feed-clock.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Access, CredentialRefusal } from './access.ts'
import { expired } from './feed-tokens.ts'

const admin = 'fxd://admin'
const feedUri = 'fxd://feed/'

/**
 * What a client certificate allows whose authority is trusted: its URI names say so, `fxd://admin`
 * everything, `fxd://feed/BROKER:ACCOUNT` one feed each. TLS looked at its dates when the connection
 * began, or when a session it resumes did; here it is looked at per call.
 */
export function certificateAccess(raw: Buffer, clock: Clock): Access | CredentialRefusal {
  const certificate = new X509Certificate(raw)
  const until = utcMs(certificate.validToDate.getTime())
  if (clock.utcMs() >= until) return expired
  const uris = urisOf(certificate.subjectAltName ?? '')
  if (uris.includes(admin)) return { mayAdminister: true, feeds: 'all', until }
  const named = uris.flatMap((uri) => (uri.startsWith(feedUri) ? [uri.slice(feedUri.length)] : []))
  return { mayAdminister: false, feeds: new Set<FeedKey>(named.filter(isFeedKey)), until }
}

/** A name with commas or quotes in it stands in quotes: none of ours does, so it is left out whole. */
const urisOf = (names: string): string[] =>
  names
    .replace(/"(?:[^"\\]|\\.)*"/g, '')
    .split(', ')
    .flatMap((name) => (name.startsWith('URI:') ? [name.slice('URI:'.length)] : []))
