import { expect, test } from 'vitest'
import { effort } from '../../support/effort.ts'
import { oneServer } from '../../support/questdb/one-server.ts'
import { killAgain } from '../support/kill-again.ts'
import { seeded } from '../support/seeded.ts'

const server = oneServer()
/** Kills of each process; thirty in `make soak`. */
const killsOfEach = Math.max(2, Math.round(1.5 * effort))

test('QuestDB and fxd are killed repeatedly while bars, corrections and backfill flow: every acknowledged bar is there once, with its last correction', {
  timeout: 120_000 + killsOfEach * 120_000,
}, async () => {
  const { random, seed } = seeded()
  console.log(`FXD_TEST_SEED=${seed}: ${killsOfEach} kills of each`)
  const { complaints, summary } = await killAgain({ server: server(), prefix: 'kill_', killsOfEach, random })
  expect(complaints, `FXD_TEST_SEED=${seed}`).toEqual([])
  console.log(summary)
  expect(await server().exec('SELECT name FROM wal_tables() WHERE suspended')).toEqual([])
})
