import { createHmac, hash, timingSafeEqual } from 'node:crypto'
import { type UtcMs, utcMs } from '../core/clocks/feed-clock.ts'
import { Failure } from '../core/failure.ts'
import { type FeedKey, isFeedKey } from '../core/feeds/compound-key.ts'
import { type KeyRecord, type KeySecret, secretIsOpen } from '../core/keys/api-key.ts'
import type { RegistryView } from '../core/registry/registry.ts'
import { show } from '../core/show.ts'
import { keyRefusal } from './authenticate.ts'
import { grant } from './grant.ts'

/** Minimum characters of a chart key: below 256 bits it could be guessed from a token. */
export const chartKeyLengthMin = 32
/** Maximum characters of a token: enough for a hundred feeds. */
export const chartTokenLengthMax = 4_096

/** What a token says. It has no digest of a secret: the registry alone must not suffice to make a token. */
interface Claims {
  readonly key: string
  /** Identifies the secret of the key that asked for the token. */
  readonly secret: string
  /** Absent: all feeds of the key. */
  readonly feeds?: readonly string[]
  /** Unix seconds at which the token ends. */
  readonly until: number
}

export interface ChartGrant {
  readonly key: KeyRecord
  readonly secret: KeySecret
  readonly feeds: readonly FeedKey[] | undefined
  readonly until: UtcMs
}

const shape = /^fxc_([\w-]+)\.([\w-]{43})$/
const macOf = (claims: string, chartKey: string): string =>
  createHmac('sha256', chartKey).update(`fxd chart token\n${claims}`).digest('base64url')
const secretId = ({ digest }: KeySecret): string =>
  hash('sha256', `secret of a chart token\n${digest}`).slice(0, 32)
const usable = (chartKeys: readonly string[]): readonly string[] =>
  chartKeys.filter(({ length }) => length >= chartKeyLengthMin)

/** A token with which a charting client reads what the key may read. The first chart key signs. */
export function issueChartToken(
  { key, secret, feeds, until }: ChartGrant,
  chartKeys: readonly string[],
): string {
  const [first] = usable(chartKeys)
  if (first === undefined)
    throw new Failure('NOT_FOUND', 'This server issues no chart tokens: FXD_CHART_KEYS is not set.')
  const claims: Claims = {
    key: key.id,
    secret: secretId(secret),
    ...(feeds && { feeds }),
    until: Math.floor(until / 1_000),
  }
  const text = Buffer.from(JSON.stringify(claims)).toString('base64url')
  return `fxc_${text}.${macOf(text, first)}`
}

/**
 * The key behind a token, with the feeds that both have. The token ends with the secret that asked for it, and has the key's
 * addresses. Order of checks: signed, secret known, not ended, key not revoked, not expired, address allowed.
 */
export function authenticateChart(
  { token, address }: { readonly token: string; readonly address: string },
  chartKeys: readonly string[],
  view: RegistryView,
  now: UtcMs,
): KeyRecord {
  const claims = claimsOf(token, chartKeys)
  const key = claims && view.keys.get(claims.key)
  const secret = key?.secrets.find((each) => secretId(each) === claims?.secret)
  if (!claims || !key || !secret) throw new Failure('KEY_INVALID', 'The chart token is unknown.')
  if (now >= utcMs(claims.until * 1_000) || !secretIsOpen(secret, now))
    throw new Failure('KEY_EXPIRED', 'The chart token has ended: ask /udf/token for another one.')
  const refused = keyRefusal(key, address, now)
  if (refused) throw new Failure(refused)
  return { ...key, feeds: key.feeds.filter((feed) => claims.feeds?.includes(feed) ?? true) }
}

/** The id of the key behind a token, whether or not it may be used; `undefined` without one. */
export const keyIdOfChart = (token: string, chartKeys: readonly string[]): string | undefined =>
  claimsOf(token, chartKeys)?.key

/** What the token says, if one of the chart keys signed it. */
function claimsOf(token: string, chartKeys: readonly string[]): Claims | undefined {
  const [, claims = '', mac = ''] = (token.length <= chartTokenLengthMax && shape.exec(token)) || []
  if (claims === '') return undefined
  const sent = Buffer.from(mac)
  const isSigned = usable(chartKeys).some((key) => timingSafeEqual(Buffer.from(macOf(claims, key)), sent))
  return isSigned ? (JSON.parse(Buffer.from(claims, 'base64url').toString()) as Claims) : undefined
}

/** Feeds of a comma-separated list, which the key has. Throws INVALID_PARAMS for a text that names no feed. */
export function chartFeeds(text: string | undefined, key: KeyRecord): readonly FeedKey[] | undefined {
  if (text === undefined) return undefined
  return [...new Set(text.split(','))].map((feed) => {
    if (!isFeedKey(feed))
      throw new Failure('INVALID_PARAMS', `feeds: got ${show(feed)}, wanted BROKER:ACCOUNT`)
    grant(key, feed)
    return feed
  })
}
