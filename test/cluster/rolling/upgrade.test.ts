import { createHash, randomBytes } from 'node:crypto'
import { expect, onTestFinished, test } from 'vitest'
import { StreamSocket } from '../../acceptance/client/socket.ts'
import { until } from '../../acceptance/client/until.ts'
import { checkHistory } from '../../faults/checks/check-history.ts'
import type { UserAnswer } from '../../faults/support/cluster-user.ts'
import { readHistory } from '../../faults/support/read-history.ts'
import { metricOf } from '../../support/clients/metric-of.ts'
import { RawSession } from '../../support/clients/raw-session.ts'
import { effort } from '../../support/effort.ts'
import { whyNoEarlierRelease } from '../../support/processes/earlier-release.ts'
import { appendExport, followedFeed, writeExport } from '../../support/samples/followed-feed.ts'
import { cutAll, upgrade } from '../pods.ts'
import {
  feeds,
  followedSymbol,
  type Release,
  releases,
  startTwoReleases,
  type TwoReleases,
} from './two-releases.ts'

/** Time for the start of a cluster, eight rollouts and the comparisons between them, on a busy machine. */
const timeoutMs = 600_000
const collector = 'collector-brokerb-files'
const first = ['ingest-1', 'rest-1', 'stream-1']
const second = ['ingest-2', 'rest-2', 'stream-2']
const other = { old: 'new', new: 'old' } as const satisfies Record<Release, Release>
const spooledMinutes = 12
const followedKey = `${followedFeed}:${followedSymbol}`
/** Directions to test; only `make soak` tests the downgrade, which needs another minute. */
const directions: readonly Release[] = effort > 1 ? ['new', 'old'] : ['new']
const lastRelease = directions.at(-1) as Release

test('an upgrade and a downgrade under load miss no bar, and each release reads what the other wrote', {
  timeout: timeoutMs,
}, async ({ skip }) => {
  const reason = whyNoEarlierRelease()
  skip(reason !== undefined, reason)
  const both = await startTwoReleases()
  onTestFinished(async () => expect(await both.stop()).toEqual([]))
  const atFirst = await registryRows(both)
  for (const by of directions) {
    await Promise.all([both.replace(first, by), handOverSpool(both, by)])
    await compareAnswers(both)
    for (const release of releases) {
      await shareKeys(both, release)
      await shareFeedTokens(both, release)
    }
    await shareOwnedKey(both, `k_owned_by_${by}`)
    await shareLimits(both)
    await both.replace(second, by)
    await both.traffic.caughtUp()
    expect(both.traffic.checkPlanned()).toEqual([])
    console.log(`to the ${by} release: 0 bars missed, ${both.traffic.summary()}`)
  }
  const rows = await registryRows(both)
  expect(
    rows.filter((row) => atFirst.includes(row)),
    'a release overwrote changes of the other',
  ).toEqual(atFirst)
  await both.traffic.stop()
  // Without traffic no process answers with bars that are only in its memory.
  const shown = await readHistory(
    { get: async (path) => ({ ...(await both.get(both.pod('rest', lastRelease), path)), tookMs: 0 }) },
    both.traffic.market,
    '1',
  )
  const acked = both.traffic.readings.filter((reading) => reading.acked)
  expect(checkHistory(both.traffic.readings, shown)).toEqual([])
  console.log(`${acked.length} readings acknowledged by both releases, all of them stored`)
})

/** All rows of the registry table. */
const registryRows = async ({ cluster }: TwoReleases): Promise<readonly string[]> =>
  (await cluster.questdb.exec('SELECT kind, id, body FROM fxd_registry')).map((row) => row.join(' '))

/**
 * Fills the spool of a collector that cannot reach ingest, replaces the collector by the other release, and waits
 * until that one has emptied the spool. The export no longer has these minutes, so only the spool can deliver them.
 */
async function handOverSpool(both: TwoReleases, by: Release): Promise<void> {
  const { cluster, ingestProxy, exports } = both
  const { opsPort } = cluster.pod(collector)
  const spooled = (): Promise<number> => metricOf(opsPort, 'fxd_collector_spool_bars')
  const begin = Math.floor(Date.now() / 60_000) * 60 - (by === 'new' ? 12 : 6) * 3_600
  const minutes = (from: number, count: number): number[] =>
    Array.from({ length: count }, (_, i) => begin + 60 * (from + i))
  const stored = async (wanted: readonly number[]): Promise<boolean> => {
    const { body } = await both.ask(
      `/v1/history?symbol=${followedKey}&resolution=1&from=${begin}&to=${begin + 3_600}`,
    )
    return wanted.every((minute) => (body as { t?: number[] }).t?.includes(minute))
  }
  const before = minutes(0, 3)
  writeExport(exports, followedSymbol, before)
  await until('the bars of the export', () => stored(before), 60_000)
  // A bar is in history a moment before its Ack. Without the Ack it would count below as a bar of a later minute.
  await until('the Acks of these bars', async () => (await spooled()) === 0)
  ingestProxy.set({ connections: 'refuse' })
  ingestProxy.reset()
  const during = minutes(3, spooledMinutes)
  for (const [at, minute] of during.entries()) {
    appendExport(exports, followedSymbol, minute)
    await until(`${at + 1} minutes in the spool`, async () => (await spooled()) > at, 30_000)
  }
  const spooledBefore = await spooled()
  await cluster.pod(collector).program.stop()
  writeExport(exports, followedSymbol, minutes(3 + spooledMinutes, 2))
  await both.replace([collector], by)
  expect(await spooled()).toBeGreaterThanOrEqual(spooledBefore)
  ingestProxy.set({})
  await until('the spool to be empty', async () => (await spooled()) === 0, 60_000)
  await until('the spooled bars in history', () => stored(during), 60_000)
  console.log(`${spooledBefore} bars of a spool of the ${other[by]} release were stored by the ${by} one`)
}

/** Both releases must return the same answers; the newer one may add fields. */
async function compareAnswers(both: TwoReleases): Promise<void> {
  const to = Math.floor(Date.now() / 60_000) * 60
  const questions = [
    '/v1/config',
    '/v1/symbols?limit=1000',
    '/v1/symbols?search=usd&limit=2',
    '/v1/coverage?symbol=BROKERA:ZERO:EURUSD',
    `/v1/coverage?symbol=${followedKey}`,
    `/v1/history?symbol=${followedKey}&resolution=1&from=${to - 86_400}&to=${to}`,
    `/v1/history?symbol=BROKERA:ZERO:EURUSD&resolution=30&from=${to - 86_400}&to=${to - 5 * 3_600 - 3_000}`,
    '/v1/history?symbol=BROKERA:ZERO:NOPE&resolution=1&countback=5',
  ]
  for (const question of questions) {
    const ask = (release: Release): Promise<UserAnswer> => both.get(both.pod('rest', release), question)
    // Bars change meanwhile: an answer counts only between two equal ones.
    const compared = async (): Promise<boolean> => {
      const [old, fresh, again] = [await ask('old'), await ask('new'), await ask('old')]
      if (JSON.stringify(old.body) !== JSON.stringify(again.body)) return false
      expect(fresh.status, question).toBe(old.status)
      expect(fresh.body, question).toMatchObject(old.body as object)
      return true
    }
    await until(`equal answers to ${question}`, compared)
  }
}

/** Resolves once REST of both releases answers this key with this status. */
const untilAnswered = (both: TwoReleases, key: string, status: number): Promise<boolean> =>
  until(`${status} from both`, async () => {
    const answers = releases.map((release) => both.get(both.pod('rest', release), '/v1/status', key))
    return (await Promise.all(answers)).every((each) => each.status === status)
  })

/** One release creates a key; both accept it, and the other changes it before the first revokes it. */
async function shareKeys(both: TwoReleases, maker: Release): Promise<void> {
  const changer = other[maker]
  const made = await both.fxd(maker, `keys create --plan pro --feeds ${feeds.join(',')} --ws-connections 4`)
  const { id, key } = made as { id: string; key: string }
  await untilAnswered(both, key, 200)
  const sockets = await Promise.all(
    releases.map((release) => upgrade(`http://127.0.0.1:${both.pod('stream', release).port}`, key)),
  )
  onTestFinished(cutAll)
  const open = sockets.flatMap((each) => (each instanceof StreamSocket ? [each] : []))
  expect(open).toHaveLength(2)
  const rotated = (await both.fxd(changer, `keys rotate ${id} --overlap 1h`)) as { key: string }
  await untilAnswered(both, rotated.key, 200)
  await untilAnswered(both, key, 200)
  await both.fxd(changer, `keys update ${id} --rpm 777`)
  await both.fxd(maker, `keys revoke ${id}`)
  await untilAnswered(both, rotated.key, 401)
  await untilAnswered(both, key, 401)
  await Promise.all(open.map(({ closed }) => closed))
}

/** A key that a Kubernetes object owns; the old release has neither owners nor suspended keys. */
async function shareOwnedKey(both: TwoReleases, id: string): Promise<void> {
  const secret = `fxd_${randomBytes(16).toString('hex')}`
  const put = {
    id,
    owner: 'uid-1',
    issue: 1,
    sha256: createHash('sha256').update(secret).digest(),
    prefix: secret.slice(0, 8),
    plan: 'pro',
    feeds,
  }
  const { call, close } = both.registry('new')
  onTestFinished(close)
  await call('PutKey', put)
  await untilAnswered(both, secret, 200)
  await both.fxd('old', `keys update ${id} --rpm 777`)
  // The change was made at the other ingest.
  const changed = async () => {
    const found = await call('GetKey', { id })
    return found.limits?.rpm === 777 && found
  }
  expect(await until('the changed key', changed)).toMatchObject({ owner: 'uid-1', issue: 1 })
  await call('SuspendKey', { id, owner: 'uid-1' })
  await untilAnswered(both, secret, 401)
  await call('PutKey', put)
  await untilAnswered(both, secret, 200)
}

/** Each release accepts a feed token that the other issued. */
async function shareFeedTokens(both: TwoReleases, issuer: Release): Promise<void> {
  const { token } = (await both.fxd(issuer, `feeds token ${followedFeed} --expires 1d`)) as { token: string }
  const session = new RawSession(`127.0.0.1:${both.pod('ingest', other[issuer]).port}`, token)
  await session.hello(followedFeed, { mode: 'IMPORT', id: 'import-1' })
  await session.close()
}

/** Rate windows and connection slots are counted over processes of both releases. */
async function shareLimits(both: TwoReleases): Promise<void> {
  const [rpm, cap, attempts] = [10, 3, 8]
  const limits = `--rpm ${rpm} --rpd 1000 --ws-connections ${cap} --ws-symbols 5`
  const { key } = (await both.fxd('new', `keys create --plan pro --feeds ${feeds.join(',')} ${limits}`)) as {
    key: string
  }
  const shards = releases.map((each) => `http://127.0.0.1:${both.pod('stream', each).port}`)
  const opened = await until('the key to be known', async () => {
    const outcomes = await Promise.all(
      Array.from({ length: attempts }, (_, i) => upgrade(shards[i % 2] as string, key)),
    )
    const isKnown = outcomes.every((each) => each instanceof StreamSocket || each.status !== 401)
    if (!isKnown) cutAll()
    return isKnown && outcomes
  })
  expect(opened.filter((each) => each instanceof StreamSocket)).toHaveLength(cap)
  cutAll()
  // As in issueForAllPods.
  const later = (await both.fxd('new', `keys create --plan pro --feeds ${feeds.join(',')}`)) as {
    key: string
  }
  await untilAnswered(both, later.key, 200)
  const pods = releases.map((release) => both.pod('rest', release))
  await until('a minute with at least 10 s left', () => Date.now() % 60_000 < 50_000)
  const answers = await Promise.all(
    Array.from({ length: 3 * rpm }, (_, i) =>
      both.get(pods[i % 2] as (typeof pods)[number], '/v1/status', key),
    ),
  )
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(rpm)
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(2 * rpm)
}
