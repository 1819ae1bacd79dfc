import { closeSync, openSync, symlinkSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { defineFeed } from '../../test/support/fixtures/ingest-fixture.ts'
import { temporaryFolder } from '../../test/support/fixtures/temporary-folder.ts'
import { barsOf } from '../core/bars/bar.ts'
import { feedSeconds, toSeconds } from '../core/clocks/feed-clock.ts'
import { compoundKey } from '../core/feeds/compound-key.ts'
import { silentLog } from '../platform/log/log.ts'
import { systemClock } from '../platform/system-clock.ts'
import { openEmbeddedStores } from '../stores/embedded/open.ts'
import { run } from './run.ts'

const hourSeconds = 3_600
const feed = defineFeed({ clock: { mode: 'Fixed', offsetSeconds: -3 * hourSeconds } })

/** A data folder with a feed three hours ahead of UTC and one bar, relative to the feed's current time. */
async function folderWithBar(fromNowSeconds: number, hidden = false): Promise<string> {
  const made = temporaryFolder()
  const stores = await openEmbeddedStores({ folder: made, clock: systemClock, log: silentLog })
  await stores.registry.append(0, [{ kind: 'feed', id: feed.key, body: { definition: feed, hidden } }])
  const now = toSeconds(systemClock.utcMs()) + 3 * hourSeconds
  const time = feedSeconds(Math.floor((now + fromNowSeconds) / 60) * 60)
  const series = { feed: feed.key, symbol: compoundKey(feed.key, 'A'), resolution: '60' } as const
  const bar = { time, open: 1, high: 1, low: 1, close: 1, volume: 1, revision: 1 }
  await stores.bars.write([{ series, bars: barsOf([bar]) }], 'live')
  await stores.close()
  return made
}

function overwrite(dataDir: string, bytes: Buffer, position: number): void {
  const file = openSync(join(dataDir, 'fxd.db'), 'r+')
  writeSync(file, bytes, 0, bytes.length, position)
  closeSync(file)
}

async function doctor(dataDir: string, ...more: string[]) {
  let [out, err] = ['', '']
  const code = await run(['doctor', ...more], {
    environment: { FXD_DATA_DIR: dataDir },
    clock: systemClock,
    watched: false,
    folder: process.cwd(),
    input: () => process.stdin,
    out: (text) => void (out += text),
    err: (text) => void (err += text),
  })
  const lines = out.trimEnd().split('\n')
  const lineOf = (about: string): string =>
    lines.find((line) => line.slice(9).startsWith(`${about}:`)) ?? `nothing about ${about} in ${out}`
  return { code, lines, lineOf, err }
}

test('a healthy embedded store gets one line per finding and exit code 0, also while a service uses it', async () => {
  const dataDir = await folderWithBar(-60)
  const stores = await openEmbeddedStores({ folder: dataDir, clock: systemClock, log: silentLog })
  const whileOpen = await doctor(dataDir)
  await stores.close()
  const found = await doctor(dataDir)
  expect([found.code, whileOpen.code]).toEqual([0, 0])
  expect(found.lines).toHaveLength(4)
  expect(found.lineOf('disk')).toMatch(/^ok .* MiB free, \d+ MiB of bars$/)
  expect(found.lineOf('schema')).toBe('ok       schema: version 1')
  expect(found.lineOf('file')).toMatch(/^ok .*fxd\.db is intact$/)
  expect(found.lineOf('clocks')).toBe(
    'ok       clocks: 1 of 1 newest bars agree with the clocks of their feeds',
  )
  expect(whileOpen.lines.map((line) => line.slice(0, 12))).toEqual(
    found.lines.map((line) => line.slice(0, 12)),
  )
})

test('a bar that is ahead of its feed’s clock is reported', async () => {
  const found = await doctor(await folderWithBar(3 * hourSeconds))
  expect(found.code).toBe(1)
  expect(found.lineOf('clock')).toMatch(
    /^WRONG .*BROKERA:ZERO at resolution 60 is 3 hours ahead.*Cure: check spec\.clock/,
  )
})

test('a removed feed, whose bars are kept, is not examined', async () => {
  const found = await doctor(await folderWithBar(3 * hourSeconds, true), '--audit')
  expect(found.code).toBe(0)
  expect(found.lineOf('clocks')).toMatch(/^ok +clocks: 0 of 0 /)
  expect(found.lineOf('audit')).toMatch(/^nothing about audit/)
})

test('a folder without a store is a warning, and no file is created', async () => {
  const found = await doctor(join(temporaryFolder(), 'none'))
  expect(found.code).toBe(0)
  expect(found.lineOf('store')).toMatch(/^warning .*there is no .*fxd\.db.*Cure: start fxd once/)
})

test('a file without tables, as after a killed first start, is a warning', async () => {
  const folder = temporaryFolder()
  writeFileSync(join(folder, 'fxd.db'), '')
  const found = await doctor(folder)
  expect(found.code).toBe(0)
  expect(found.lineOf('schema')).toMatch(/^warning .*fxd\.db has no tables.*Cure: start fxd once/)
})

test('a folder that cannot be examined is an error', async () => {
  const folder = join(temporaryFolder(), 'loop')
  symlinkSync(folder, folder)
  const found = await doctor(folder)
  expect(found.code).toBe(1)
  expect(found.lineOf('store')).toMatch(/^WRONG .*fxd\.db/)
})

test('the schema of another fxd version is an error', async () => {
  const dataDir = await folderWithBar(-60)
  const db = new DatabaseSync(join(dataDir, 'fxd.db'))
  db.exec('PRAGMA user_version = 7')
  db.close()
  const found = await doctor(dataDir)
  expect(found.code).toBe(1)
  expect(found.lineOf('schema')).toMatch(/^WRONG .*version 7 .*Cure: run the fxd that wrote it/)
})

test('a damaged file is reported with its cure', async () => {
  const dataDir = await folderWithBar(-60)
  // After the first page, which contains the version.
  overwrite(dataDir, Buffer.alloc(3 * 4_096, 0xa5), 4_096)
  const found = await doctor(dataDir)
  expect(found.code).toBe(1)
  expect(found.lines.join('\n')).toMatch(/WRONG .*fxd\.db(: | is damaged).*Cure: /)
})

test('a file that is no database is reported with its cure', async () => {
  const dataDir = await folderWithBar(-60)
  overwrite(dataDir, Buffer.alloc(4_096, 0x20), 0)
  const found = await doctor(dataDir)
  expect(found.code).toBe(1)
  expect(found.lineOf('store')).toMatch(/^WRONG .*fxd\.db: .*not a database.*Cure: /)
})

test('--audit reports bars outside all windows, and that the rest agrees', async () => {
  const dataDir = await folderWithBar(-60)
  expect((await doctor(dataDir)).lineOf('audit')).toContain('nothing about audit')
  expect((await doctor(dataDir, '--audit')).lineOf('audit')).toMatch(
    /^ok .*BROKERA:ZERO: windows and bars agree/,
  )
  const old = await folderWithBar(-5 * 24 * hourSeconds)
  const found = await doctor(old, '--audit')
  expect(found.lineOf('audit')).toMatch(
    /^warning .*BROKERA:ZERO at resolution 60: 1 day of 1 symbol with bars outside/,
  )
  expect(found.code).toBe(0)
})
