import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { chartFeeds, issueChartToken } from '../../../access/chart-token.ts'
import { credential } from '../../../access/credential.ts'
import { dayMs } from '../../../core/clocks/calendar.ts'
import { durationMs } from '../../../core/clocks/duration.ts'
import { utcMs } from '../../../core/clocks/feed-clock.ts'
import { Failure } from '../../../core/failure.ts'
import { show } from '../../../core/show.ts'
import { digestOf } from '../../../registry/key-digest.ts'
import type { RestDeps } from '../../deps.ts'
import { parseQuery } from '../../query.ts'

const lifeDefault = '24h'
const lifeMsMax = 90 * dayMs

const query = Type.Object({
  feeds: Type.Optional(Type.String({ maxLength: 2_000 })),
  for: Type.Optional(Type.String()),
})

type TokenDeps = Pick<RestDeps, 'registry' | 'clock' | 'chartKeys'>

/** A token of the key that is in a header, never in the address: that would be a page's history. */
export function chartTokenAnswer(request: FastifyRequest, { registry, clock, chartKeys }: TokenDeps): object {
  const text = credential(request.headers, '')
  if (text === undefined)
    throw new Failure('UNAUTHORIZED', 'The API key was not in a header; send it as X-API-Key.')
  const found = registry.view().keys.byDigest(digestOf(text).toString('hex'))
  if (!found) throw new Failure('KEY_INVALID')
  const parameters = request.query as URLSearchParams
  const asked = parseQuery(query, parameters)
  // An empty list is a mistake, and would stand for all feeds.
  const feeds = chartFeeds(asked.feeds ?? parameters.get('feeds') ?? undefined, found.key)
  const ends = [clock.utcMs() + lifeOf(asked.for ?? lifeDefault), found.key.expiresAt, found.secret.until]
  const until = utcMs(Math.min(...ends.filter((end) => end !== undefined)))
  const token = issueChartToken({ ...found, feeds, until }, chartKeys())
  return { token, path: `/udf/${token}`, expires: Math.floor(until / 1_000) }
}

function lifeOf(text: string): number {
  const ms = durationMs(text)
  if (ms !== undefined && ms > 0 && ms <= lifeMsMax) return ms
  throw new Failure('INVALID_PARAMS', `for: got ${show(text)}, wanted a time up to 90d, such as 24h or 7d`)
}
