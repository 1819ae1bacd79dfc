import { setTimeout as pause } from 'node:timers/promises'
import { beforeAll, expect, test } from 'vitest'
import type { History } from '../acceptance/client/history.ts'
import { ask } from '../acceptance/client/http.ts'
import { until } from '../acceptance/client/until.ts'
import { basesOf, issueForAllPods } from './pods.ts'

let key = ''
beforeAll(async () => {
  ;({ key } = await issueForAllPods())
})

const november = Date.UTC(2013, 10, 1) / 1000
const day = 86_400
const questions = [
  '/v1/config',
  '/v1/symbols?limit=1000',
  '/v1/symbols?search=usd&limit=5&offset=1',
  '/v1/symbols?symbol=BROKERA:ZERO:BTCUSD',
  '/v1/coverage?symbol=BROKERA:ZERO:BTCUSD',
  '/v1/coverage?symbol=BROKERC:TADIL:GOOGL',
  ...['1', '5', '30', '60', '1D', '1M'].flatMap((resolution) => [
    `/v1/history?symbol=BROKERA:ZERO:BTCUSD&resolution=${resolution}&from=${november}&to=${november + 30 * day}`,
    `/v1/history?symbol=BROKERA:ZERO:BTCUSD&resolution=${resolution}&countback=500&to=${november + 20 * day}`,
  ]),
  '/v1/history?symbol=BROKERA:ZERO:NOPE&resolution=1&countback=5',
  '/v1/history?symbol=BROKERA:ZERO:BTCUSD&resolution=7&countback=5',
]

test.each(questions)('every pod returns the same answer to %s', async (path) => {
  // Other tests add symbols, and each pod learns of them separately.
  await until('equal answers', async () => {
    const answers = await Promise.all(basesOf('rest').map((base) => ask(path, { key, base })))
    const [first, ...others] = answers.map(({ status, text }) => ({ status, text }))
    expect(others.length).toBeGreaterThan(0)
    for (const other of others) expect(other).toEqual(first)
    return true
  })
})

const simulated = 'symbol=BROKERG:SIM:BTCUSD'
/** Sends the request to all pods; returns the newest bar and the answer of each. */
const askAll = (question: string) =>
  Promise.all(
    basesOf('rest').map(async (base) => {
      const { body, text } = await ask<History>(`/v1/history?${question}`, { key, base })
      return { newest: body.t?.at(-1), count: body.t?.length ?? 0, text }
    }),
  )
/** The newest bar of all pods; `undefined` while one pod has read less of the bus than another. */
const readTo = (answers: Awaited<ReturnType<typeof askAll>>): number | undefined => {
  const [first, ...others] = answers.map(({ newest }) => newest)
  return others.every((newest) => newest === first) ? first : undefined
}

test('every pod returns the same answer to a growing range once all have read the bus to the same position', {
  timeout: 170_000,
}, async () => {
  // The simulator sends the last day as backfill.
  const depth = { '1': 1_435, '5': 285 }
  for (const [resolution, count] of Object.entries(depth))
    await until(
      `the day of ${resolution}`,
      async () =>
        (await askAll(`${simulated}&resolution=${resolution}&countback=10000`)).every(
          (each) => each.count > count,
        ),
      60_000,
    )
  const now = Math.floor(Date.now() / 1000)
  const ranges = [`from=${now - 6 * 3600}&to=${now + day}`, 'countback=200', `countback=200&to=${now + day}`]
  const growing = ranges.flatMap((range) =>
    ['1', '5', '60'].map((resolution) => `${simulated}&resolution=${resolution}&${range}`),
  )
  const minute = async () => readTo(await askAll(`${simulated}&resolution=1&countback=1`))
  const begun = Math.max(...(await askAll(growing[0] as string)).map(({ newest }) => newest ?? 0))
  const compared = new Set<string>()
  while (compared.size < growing.length) {
    for (const question of growing) {
      const before = await minute()
      const answers = await askAll(question)
      if (before === undefined || readTo(answers) === undefined || (await minute()) !== before) continue
      for (const { text } of answers) expect(text, question).toBe(answers[0]?.text)
      // Only answers with a minute that arrived during this test count.
      if (before > begun) compared.add(question)
    }
    await pause(50)
  }
})
