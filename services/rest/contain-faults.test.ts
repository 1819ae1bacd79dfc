import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { openRestFixture, type RestFixture } from '../../test/support/fixtures/rest-fixture.ts'

let edge: RestFixture
beforeAll(async () => {
  edge = await openRestFixture()
})
afterEach(() => void vi.restoreAllMocks())
afterAll(() => edge.close())

test('a defect before a request reaches its route is answered 500, logged and counted', async () => {
  vi.spyOn(edge.clock, 'randomHex').mockImplementationOnce(() => {
    throw new RangeError('inner words')
  })
  const { status, body } = await edge.ask('/v1/config')
  expect([status, body.error.code]).toEqual([500, 'SERVER_ERROR'])
  expect(JSON.stringify(body)).not.toContain('inner words')
  const line = edge.logged.find((each) => each.includes('request failed before its route'))
  expect(JSON.parse(line ?? '')).toMatchObject({ level: 50, fault: 'RangeError' })
  expect(await edge.metrics()).toContain('fxd_http_faults_total 1')
  expect((await edge.ask('/v1/config')).status).toBe(200)
})
