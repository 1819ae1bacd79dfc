import { expect, test } from 'vitest'
import { effort } from '../../support/effort.ts'
import { oneServer } from '../../support/questdb/one-server.ts'
import { writeLate } from '../support/late-write.ts'
import { seeded } from '../support/seeded.ts'

const server = oneServer()
const rounds = Math.max(2, Math.round(effort))

test('a request of an ingest that was frozen lands late, after another ingest took over: no correction is undone', {
  timeout: 120_000 + rounds * 120_000,
}, async () => {
  const { random, seed } = seeded()
  console.log(`FXD_TEST_SEED=${seed}: ${rounds} takeovers`)
  const { complaints, told } = await writeLate({ server: server(), prefix: 'late_', rounds, random })
  expect(complaints, `FXD_TEST_SEED=${seed}`).toEqual([])
  console.log(told)
})
