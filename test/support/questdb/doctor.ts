import { run } from '../../../services/cli/run.ts'
import { feedSeconds, toSeconds } from '../../../services/core/clocks/feed-clock.ts'
import { feedKey } from '../../../services/core/feeds/compound-key.ts'
import { systemClock } from '../../../services/platform/system-clock.ts'
import { batchOf, minuteBar, seriesOf } from '../../contract/suites/sample-bars.ts'
import { defineFeed } from '../fixtures/ingest-fixture.ts'
import type { QuestdbServer } from './server.ts'
import { openInTest } from './stores.ts'
export interface Examined {
  readonly code: number
  readonly lines: readonly string[]
  readonly err: string
}

/** Runs `fxd doctor` with the variables of this server. */
export async function doctor(
  { http, pg }: QuestdbServer,
  prefix: string,
  more: Record<string, string> = {},
  ...args: string[]
): Promise<Examined> {
  let [out, err] = ['', '']
  const environment = {
    FXD_STORE: 'questdb',
    FXD_QUESTDB_HTTP: `${http.host}:${http.port}`,
    FXD_QUESTDB_PG: `${pg.host}:${pg.port}`,
    FXD_QUESTDB_PREFIX: prefix,
    ...more,
  }
  const code = await run(['doctor', ...args], {
    environment,
    clock: systemClock,
    watched: false,
    folder: process.cwd(),
    input: () => process.stdin,
    out: (text) => void (out += text),
    err: (text) => void (err += text),
  })
  return { code, lines: out.trimEnd().split('\n'), err }
}

/** Returns the line about this subject, or a sentence that there is none. */
export const lineOf = ({ lines }: Examined, about: string): string =>
  lines.find((line) => line.slice(9).startsWith(`${about}:`)) ??
  `nothing about ${about} in ${lines.join('|')}`

export const feed = feedKey('BROKERA', 'ZERO')
export const hourSeconds = 3_600

/** Makes a feed three hours ahead of UTC, with one bar `fromNowSeconds` from the present time of its clock. */
export async function withNewestBar(
  server: QuestdbServer,
  fromNowSeconds: number,
  resolution: '1' | '60' = '60',
  hidden = false,
): Promise<string> {
  const { stores, prefix } = await openInTest(server)
  const definition = defineFeed({ clock: { mode: 'Fixed', offsetSeconds: -3 * hourSeconds } })
  await stores.registry.append(0, [{ kind: 'feed', id: feed, body: { definition, hidden } }])
  const now = toSeconds(systemClock.utcMs()) + 3 * hourSeconds
  const time = feedSeconds(Math.floor((now + fromNowSeconds) / 60) * 60)
  await stores.bars.write([batchOf(seriesOf('A', resolution, feed), [{ ...minuteBar(0), time }])], 'live')
  return prefix
}
