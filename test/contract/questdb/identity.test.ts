import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { feedKey } from '../../../services/core/feeds/compound-key.ts'
import { silentLog } from '../../../services/platform/log/log.ts'
import { createMetrics } from '../../../services/platform/metrics.ts'
import { systemClock } from '../../../services/platform/system-clock.ts'
import { type PreparedQuestdb, prepareQuestdbStores } from '../../../services/stores/questdb/open.ts'
import { prepareRedisStores } from '../../../services/stores/redis/open.ts'
import { defineFeed } from '../../support/fixtures/ingest-fixture.ts'
import { doctor, lineOf } from '../../support/questdb/doctor.ts'
import { oneServer } from '../../support/questdb/one-server.ts'
import { type RedisServer, startRedis } from '../../support/redis/server.ts'

const server = oneServer()
let redis: RedisServer
beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis.stop())

const feed = feedKey('BROKERA', 'ZERO')
const soon = { timeout: 10_000, interval: 50 }
let prefixes = 0
const freshPrefix = (): string => `same${++prefixes}_`

interface Opened extends PreparedQuestdb {
  /** The word in Redis. */
  readonly known: () => Promise<string | undefined>
  readonly know: (word: string) => Promise<void>
}

/** A process with QuestDB and Redis, which both have names with the prefix. */
async function open(
  user: 'ingest' | 'rest',
  prefix: string,
  { url = redis.url, file = undefined as string | undefined } = {},
): Promise<Opened> {
  const shared = { clock: systemClock, log: silentLog, metrics: createMetrics({ ofProcess: false }) }
  const at = { url, sentinels: [], master: '' }
  const outside = prepareRedisStores({ at, prefix: `${prefix}:`, admits: false, pods: 1, ...shared })
  onTestFinished(() => outside.stores.close())
  await outside.connect().catch(() => undefined)
  const opened = await prepareQuestdbStores({
    ...server(),
    credentials: { user: 'admin', password: 'quest' },
    prefix,
    user,
    known: () => outside.identity,
    readKnown: () => file,
    ...shared,
  })
  onTestFinished(() => opened.stores.close())
  return { ...opened, known: () => outside.identity.agree(), know: (word) => outside.identity.replace(word) }
}

const tablesOf = async (prefix: string): Promise<readonly string[]> =>
  (await server().exec('SELECT table_name FROM all_tables()'))
    .flat()
    .map(String)
    .filter((table) => table.startsWith(prefix))
const wordOf = async (prefix: string): Promise<unknown> =>
  (await server().exec(`SELECT identity FROM ${prefix}schema WHERE version = 1`))[0]?.[0]
const lose = async (prefix: string): Promise<void> => {
  for (const table of await tablesOf(prefix)) await server().exec(`DROP TABLE '${table}'`)
}
/** Ends all connections, as a restart of the server does. */
const restart = async (): Promise<void> => {
  await server().kill()
  await server().start()
}
const refused = (part: string) => ({ cause: { message: expect.stringContaining(part) as string } })

test('ingests that start at once on a new server give it one word, which Redis and every reader know', async () => {
  const prefix = freshPrefix()
  const ingests = await Promise.all([open('ingest', prefix), open('ingest', prefix), open('ingest', prefix)])
  await Promise.all(ingests.map(({ connect }) => connect()))
  const reader = await open('rest', prefix)
  await reader.connect()
  const words = [...ingests, reader].map(({ stores }) => stores.identity.word)
  expect(new Set([...words, await reader.known(), await wordOf(prefix)])).toEqual(
    new Set([expect.stringMatching(/^[0-9a-f]{16}$/)]),
  )
})

test('an empty server is refused while a word is known: an ingest creates nothing until it is accepted', async () => {
  const prefix = freshPrefix()
  const first = await open('ingest', prefix)
  await first.connect()
  await first.stores.close()
  await lose(prefix)
  const [ingest, other] = [await open('ingest', prefix), await open('ingest', prefix)]
  for (const { connect } of [ingest, other])
    await expect(connect()).rejects.toMatchObject(refused('lost its data'))
  expect(await tablesOf(prefix)).toEqual([])

  expect(await ingest.stores.identity.begin()).toBe(true)
  await Promise.all([ingest.connect(), other.connect()])
  expect(ingest.stores.identity.word).not.toBe(first.stores.identity.word)
  expect([await ingest.known(), await wordOf(prefix)]).toEqual(
    Array(2).fill(other.stores.identity.word) as string[],
  )
  expect(await ingest.stores.identity.begin(), 'a store that is not refused').toBe(false)
})

test('a server with the word of another store is refused by ingests and readers, and doctor ends with 1', async () => {
  const prefix = freshPrefix()
  const [ingest, reader] = [await open('ingest', prefix), await open('rest', prefix)]
  await ingest.connect()
  await reader.connect()
  await server().exec(`INSERT INTO ${prefix}schema (ts, version, identity) VALUES (0, 1, 'another')`)
  await restart()
  for (const { stores } of [ingest, reader])
    await expect.poll(() => stores.registry.since(0).catch(String), soon).toContain('store is unavailable')
  await expect((await open('ingest', prefix)).connect()).rejects.toMatchObject(refused('another store'))
  await expect((await open('rest', prefix)).connect()).rejects.toMatchObject(refused('another store'))
  const found = await doctor(server(), prefix, { FXD_REDIS: redis.url, FXD_REDIS_PREFIX: `${prefix}:` })
  expect(found.code).toBe(1)
  expect(lineOf(found, 'identity')).toMatch(
    /^WRONG .*another store.*do not restart ingest.*stop all processes of fxd, restore a backup, start them again/,
  )

  expect(await ingest.stores.identity.begin()).toBe(true)
  for (const { stores } of [ingest, reader])
    await expect.poll(() => stores.registry.since(0).catch(String), soon).toEqual([])
  const accepted = await doctor(server(), prefix, { FXD_REDIS: redis.url, FXD_REDIS_PREFIX: `${prefix}:` })
  expect(lineOf(accepted, 'identity')).toBe(
    `ok       identity: ${String(await wordOf(prefix))}, as known outside of QuestDB`,
  )
})

test('tables without a word, as of an older backup or an earlier fxd, get the known one', async () => {
  const prefix = freshPrefix()
  const first = await open('ingest', prefix)
  await first.connect()
  await first.stores.close()
  await server().exec(`ALTER TABLE ${prefix}schema DROP COLUMN identity`)
  const [ingest, reader] = [await open('ingest', prefix), await open('rest', prefix)]
  await reader.connect()
  await ingest.connect()
  expect([ingest.stores.identity.word, await wordOf(prefix)]).toEqual(
    Array(2).fill(first.stores.identity.word) as string[],
  )
})

test('a Redis that lost the word learns it again within seconds', async () => {
  const prefix = freshPrefix()
  const { connect, known, stores } = await open('ingest', prefix)
  await connect()
  await redis.command('FLUSHALL')
  await expect.poll(known, soon).toBe(stores.identity.word)
})

test('readers notice a word that changed outside while their connections stay open', async () => {
  const prefix = freshPrefix()
  const [ingest, reader] = [await open('ingest', prefix), await open('rest', prefix)]
  await ingest.connect()
  await reader.connect()
  await reader.stores.registry.since(0)
  await reader.know('another')
  await expect.poll(() => reader.stores.registry.since(0).catch(String), soon).toContain('unavailable')
})

test('a word in the file alone keeps an ingest from an empty server', async () => {
  const prefix = freshPrefix()
  const { connect } = await open('ingest', prefix, { file: 'kept' })
  await expect(connect()).rejects.toMatchObject(refused('lost its data'))
  expect(await tablesOf(prefix)).toEqual([])
})

test('an empty server waits for Redis, and one with tables does not', async () => {
  const prefix = freshPrefix()
  const away = { url: 'redis://127.0.0.1:1' }
  await expect((await open('ingest', prefix, away)).connect()).rejects.toMatchObject({ dependency: 'store' })
  expect(await tablesOf(prefix)).toEqual([])
  const first = await open('ingest', prefix)
  await first.connect()
  const ingest = await open('ingest', prefix, away)
  await ingest.connect()
  expect(ingest.stores.identity.word).toBe(first.stores.identity.word)
})

test('after a new beginning the registry before is void for processes that knew it', async () => {
  const prefix = freshPrefix()
  const [ingest, reader] = [await open('ingest', prefix), await open('rest', prefix)]
  await ingest.connect()
  await reader.connect()
  const body = { definition: defineFeed({}), hidden: false }
  await ingest.stores.registry.append(0, [{ kind: 'feed', id: feed, body }])
  expect(await reader.stores.registry.since(0)).toHaveLength(1)
  await lose(prefix)
  await restart()
  await expect.poll(() => reader.stores.registry.since(0).catch(String), soon).toContain('unavailable')
  expect(await ingest.stores.identity.begin()).toBe(true)
  await expect.poll(() => reader.stores.registry.since(0).catch(String), soon).toEqual([])
  expect(reader.stores.registry.generation).toBe(1)
  // The first write may find that its table was made again: then it fails, stored or not.
  const store = () => ingest.stores.registry.append(0, [{ kind: 'feed', id: feed, body }]).catch(String)
  await expect
    .poll(store, soon)
    .toMatchObject({ outcome: expect.stringMatching(/^(stored|conflict)$/) as string })
  await expect.poll(() => reader.stores.registry.since(0), soon).toHaveLength(1)
})

test('a Redis user without the key of the identity is named with the cure by doctor and by the command to begin', async () => {
  const prefix = freshPrefix()
  await redis.command('ACL SETUSER old on >old resetkeys ~other:* +@all')
  const url = redis.url.replace('://', '://old:old@')
  const { connect, stores } = await open('ingest', prefix, { url })
  await expect(connect()).rejects.toThrow('store is unavailable')
  const cure = `add ~${prefix}:store to the Redis user`
  await expect(stores.identity.begin()).rejects.toThrow(cure)
  const found = await doctor(server(), prefix, { FXD_REDIS: url, FXD_REDIS_PREFIX: `${prefix}:` })
  expect(lineOf(found, 'identity')).toContain(cure)
  expect(lineOf(found, 'schema')).toMatch(/lost its data.*look again before you start anything/)
})

test('doctor says "start fxd once" of a server without tables only where Redis knows no store', async () => {
  const prefix = freshPrefix()
  const isNew = await doctor(server(), prefix, { FXD_REDIS: redis.url, FXD_REDIS_PREFIX: `${prefix}:` })
  expect([isNew.code, lineOf(isNew, 'schema')]).toEqual([
    0,
    expect.stringMatching(/^warning .*there is no table.*start fxd once/),
  ])
  const unknown = await doctor(server(), prefix)
  expect([unknown.code, lineOf(unknown, 'schema')]).toEqual([
    0,
    expect.stringMatching(
      /^warning .*a new server, or one that lost its data.*set FXD_REDIS as ingest has it/,
    ),
  ])
})
