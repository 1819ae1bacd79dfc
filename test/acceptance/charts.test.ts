import { expect, test } from 'vitest'
import { euroHours } from './client/bars.ts'
import { type ErrorBody, read } from './client/http.ts'
import { issueKey, revokeKey } from './client/keys.ts'
import { target } from './client/target.ts'
import { until } from './client/until.ts'

interface ChartAnswer {
  readonly s: string
  readonly t: readonly number[]
  readonly c: readonly number[]
  readonly errmsg: string
}

/** Asks as a charting client does, without a header. */
const askChart = async (path: string): Promise<ChartAnswer> => {
  const answer = await fetch(`${target().url}${path}`)
  expect(answer.status).toBe(200)
  return (await answer.json()) as ChartAnswer
}

test('a chart token needs a key in a header', async () => {
  const { key } = await issueKey({ feeds: ['BROKERA:ZERO'] })
  const answer = await fetch(`${target().url}/udf/token?api_key=${key}`)
  expect([answer.status, ((await answer.json()) as ErrorBody).error.code]).toEqual([401, 'UNAUTHORIZED'])
})

test('a chart token opens its feeds in true UTC without a header, on every server, until its key is revoked', async () => {
  const { id, key } = await issueKey({ feeds: ['BROKERA:ZERO', 'BROKERB:LIVE'] })
  const { path } = await read<{ path: string }>('/udf/token?feeds=BROKERA:ZERO&for=1h', key)
  const history = `${path}/history?resolution=60&to=1600000000&countback=2&symbol=`
  const newest = euroHours().slice(-2)
  for (let i = 0; i < 8; i++)
    expect(await askChart(`${history}brokera_zero:eurusd`)).toMatchObject({
      t: newest.map(({ time }) => time - 3 * 3_600),
      c: newest.map(({ close }) => close),
    })
  expect((await askChart(`${history}BROKERB_LIVE:EURUSD`)).errmsg).toContain('BROKERB:LIVE')
  await revokeKey(id)
  await until('the token is refused', async () => {
    const { s, errmsg } = await askChart(`${path}/config`)
    return s === 'error' && errmsg === 'The API key has been revoked.'
  })
})
