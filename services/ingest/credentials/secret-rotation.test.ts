import { afterAll, beforeAll, expect, test } from 'vitest'
import { RawSession, seriesAt } from '../../../test/support/clients/raw-session.ts'
import {
  defineFeed,
  type IngestFixture,
  openIngestFixture,
} from '../../../test/support/fixtures/ingest-fixture.ts'
import { registryClient } from '../../wire/unary-client.ts'

const feed = defineFeed({ symbols: { list: [{ raw: 'EURUSD', type: 'forex', digits: 5 }] } })
const secret = (letter: string): string => letter.repeat(32)

let tokens = [secret('a')]
let signingKeys = [secret('k')]
let fixture: IngestFixture
beforeAll(async () => {
  fixture = await openIngestFixture([feed], { tokens: () => tokens, signingKeys: () => signingKeys })
})
afterAll(() => fixture.remove())

/** Whether the administration token is accepted. */
async function isAccepted(token: string): Promise<boolean> {
  const client = registryClient(fixture.address, { token })
  try {
    return await client.call('ListFeeds', {}).then(
      () => true,
      () => false,
    )
  } finally {
    client.close()
  }
}

async function feedToken(): Promise<{ readonly token: string; readonly signingKey: string }> {
  const client = registryClient(fixture.address, { token: tokens[0] })
  try {
    return await client.call('IssueFeedToken', { feeds: [feed.key], expires: '30d' })
  } finally {
    client.close()
  }
}

async function acceptedKeys(): Promise<readonly string[]> {
  const client = registryClient(fixture.address, { token: tokens[0] })
  try {
    return (await client.call('ListFeeds', {})).signingKeys
  } finally {
    client.close()
  }
}

test('a new administration token is accepted beside the old one until the old one is removed', async () => {
  tokens = [secret('b'), secret('a')]
  expect([await isAccepted(secret('a')), await isAccepted(secret('b'))]).toEqual([true, true])
  tokens = [secret('b')]
  expect([await isAccepted(secret('a')), await isAccepted(secret('b'))]).toEqual([false, true])
})

test('a new signing key ends no session, and tokens of the old key are accepted until it is removed', async () => {
  const { token } = await feedToken()
  const session = new RawSession(fixture.address, { token })
  await session.hello(feed.key)
  signingKeys = [secret('l'), secret('k')]
  const minute = Math.floor(fixture.clock.utcMs() / 60_000) * 60 - 120
  expect((await session.bars('LIVE', [seriesAt('EURUSD', [minute])])).refused).toEqual([])
  const { token: later } = await feedToken()
  for (const each of [token, later]) {
    const again = new RawSession(fixture.address, { token: each })
    await again.hello(feed.key, { mode: 'IMPORT' })
    await again.close()
  }
  signingKeys = [secret('l')]
  expect((await session.bars('LIVE', [seriesAt('EURUSD', [minute + 60])])).refused).toEqual([])
  const refused = new RawSession(fixture.address, { token })
  expect((await refused.ended).code).toBe('UNAUTHENTICATED')
  const accepted = new RawSession(fixture.address, { token: later })
  await accepted.hello(feed.key, { mode: 'IMPORT' })
  await accepted.close()
  await session.close()
})

test('the list of feeds names every accepted signing key, and a token the one that signed it', async () => {
  signingKeys = [secret('m'), 'too short', secret('n')]
  const { signingKey: first } = await feedToken()
  signingKeys = [secret('n'), secret('m')]
  const { signingKey: second } = await feedToken()
  expect(first).toMatch(/^[0-9a-f]{16}$/)
  expect(await acceptedKeys()).toEqual([second, first])
  signingKeys = [secret('n')]
  expect(await acceptedKeys()).toEqual([second])
})
