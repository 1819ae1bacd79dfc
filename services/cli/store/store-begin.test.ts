import { afterAll, beforeAll, expect, test } from 'vitest'
import { type CliFixture, openCliFixture } from '../../../test/support/fixtures/cli-fixture.ts'

let fixture: CliFixture
beforeAll(async () => {
  fixture = await openCliFixture()
})
afterAll(() => fixture.close())

test('begin is refused where ingest uses its store, and changes nothing', async () => {
  const feeds = (await fixture.fxd('feeds list')).out
  expect(await fixture.fxd('store begin')).toMatchObject({
    code: 1,
    err: 'fxd: The store is not refused: there is nothing to accept, and nothing changed.\n',
  })
  expect((await fixture.fxd('feeds list')).out).toBe(feeds)
})
