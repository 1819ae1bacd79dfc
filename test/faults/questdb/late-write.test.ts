import { expect, test } from 'vitest'
import { effort } from '../../support/effort.ts'
import { oneServer } from '../../support/questdb/one-server.ts'
import { writeLate } from '../support/late-write.ts'
import { seeded } from '../support/seeded.ts'

const server = oneServer()
const rounds = Math.max(2, Math.round(effort))

test('a write of a frozen ingest that arrives after another ingest took over undoes no correction', {
  timeout: 120_000 + rounds * 120_000,
}, async () => {
  const { random, seed } = seeded()
  console.log(`FXD_TEST_SEED=${seed}: ${rounds} takeovers`)
  const { complaints, summary } = await writeLate({ server: server(), prefix: 'late_', rounds, random })
  expect(complaints, `FXD_TEST_SEED=${seed}`).toEqual([])
  console.log(summary)
})
