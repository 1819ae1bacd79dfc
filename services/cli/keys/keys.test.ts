import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { type CliFixture, openCliFixture } from '../../../test/support/fixtures/cli-fixture.ts'

let fixture: CliFixture
beforeAll(async () => {
  fixture = await openCliFixture()
})
afterAll(() => fixture.close())

interface KeyAnswer {
  readonly id: string
  readonly key: string
  readonly version: number
}
const create = (more = ''): Promise<KeyAnswer> =>
  fixture.answer<KeyAnswer>(`keys create --plan pro --feeds BROKERA:ZERO ${more}`)

describe('keys', () => {
  test('create prints the key, and no other command prints it', async () => {
    const issued = await fixture.answer(
      'keys create --plan pro --feeds BROKERA:ZERO,BROKERA:VIP --rpm 7 --ws-symbols 9 ' +
        '--allow-ip 10.0.0.0/8,2001:db8::1 --expires 2999-01-31 --name charts',
    )
    expect(issued).toEqual({
      id: expect.stringMatching(/^k_[0-9a-f]{10}$/) as unknown,
      key: expect.stringMatching(/^fxd_[0-9a-f]{32}$/) as unknown,
      name: 'charts',
      prefix: String(issued['key']).slice(0, 8),
      plan: 'pro',
      limits: { rpm: 7, rpd: 250_000, ws_connections: 30, ws_symbols: 9 },
      feeds: ['BROKERA:ZERO', 'BROKERA:VIP'],
      allow_ips: ['10.0.0.0/8', '2001:db8::1'],
      expires_at: '2999-02-01T00:00:00Z',
      state: 'active',
      created_at: expect.stringMatching(/^2\d{3}-\d\d-\d\dT/) as unknown,
      old_secret_until: null,
      version: expect.any(Number) as unknown,
    })
    const shown = await fixture.fxd(`keys show ${String(issued['id'])}`)
    const listed = await fixture.fxd('keys list')
    for (const text of [shown.out, listed.out]) {
      expect(text).toContain(issued['id'])
      expect(text).not.toContain(issued['key'])
    }
  })

  test('without --json the key is one of the fields, and the advice is on standard error', async () => {
    const { code, out, err } = await fixture.fxd('keys create --plan basic --feeds BROKERA:ZERO')
    expect(code).toBe(0)
    expect(out).toMatch(/^key\s+fxd_[0-9a-f]{32}$/m)
    expect(err).toContain('shown only once')
    expect(err).not.toMatch(/fxd_[0-9a-f]{32}/)
  })

  test('create warns when the new key has expired already', async () => {
    const { code, err } = await fixture.fxd(
      'keys create --plan basic --feeds BROKERA:ZERO --expires 2020-01-01',
    )
    expect(code).toBe(0)
    expect(err).toContain('already expired')
  })

  test('update changes the given fields; "any" and "never" remove a limit', async () => {
    const { id } = await create('--allow-ip 10.0.0.1 --expires 2999-01-31')
    expect(await fixture.answer(`keys update ${id} --rpm 5 --feeds BROKERA:VIP --name other`)).toMatchObject({
      name: 'other',
      limits: { rpm: 5, rpd: 250_000 },
      feeds: ['BROKERA:VIP'],
      allow_ips: ['10.0.0.1'],
      expires_at: '2999-02-01T00:00:00Z',
    })
    expect(await fixture.answer(`keys update ${id} --allow-ip any --expires never`)).toMatchObject({
      allow_ips: [],
      expires_at: null,
    })
  })

  test('of concurrent changes none is lost, because the later one is retried', async () => {
    const { id } = await create()
    const outcomes = await Promise.all([
      fixture.fxd(`keys update ${id} --rpm 5`),
      fixture.fxd(`keys update ${id} --name both`),
    ])
    expect(outcomes.map(({ code }) => code)).toEqual([0, 0])
    expect(await fixture.answer(`keys show ${id}`)).toMatchObject({ name: 'both', limits: { rpm: 5 } })
  })

  test('rotate issues a new key with the same id, with an overlap on request', async () => {
    const { id, key } = await create()
    const rotated = await fixture.answer(`keys rotate ${id} --overlap 1h`)
    expect(rotated).toMatchObject({ id, key: expect.stringMatching(/^fxd_[0-9a-f]{32}$/) as unknown })
    expect(rotated['key']).not.toBe(key)
    expect(rotated['old_secret_until']).not.toBeNull()
  })

  test('revoke is final', async () => {
    const { id } = await create()
    expect(await fixture.answer(`keys revoke ${id}`)).toMatchObject({ id, state: 'inactive' })
    expect(await fixture.fxd(`keys rotate ${id}`)).toMatchObject({
      code: 1,
      err: expect.stringContaining('final') as unknown,
    })
  })

  test('top lists the keys with most requests today and their open sockets, without the keys themselves', async () => {
    const [much, little, unused] = [await create('--name much --rpm 3'), await create(), await create()]
    const symbols = (key: string) =>
      fetch(`${fixture.httpUrl}/v1/symbols`, { headers: { Authorization: `Bearer ${key}` } })
    for (const key of [much.key, much.key, much.key, little.key])
      expect((await symbols(key)).status).toBe(200)
    expect((await symbols(much.key)).status).toBe(429)
    const socket = new WebSocket(`${fixture.httpUrl.replace('http', 'ws')}/v1/stream`, {
      headers: { Authorization: `Bearer ${little.key}` },
    })
    await once(socket, 'open')

    const all = await fixture.answer<{ id: string }[]>('keys top')
    expect(all).toEqual([
      {
        id: much.id,
        prefix: much.key.slice(0, 8),
        name: 'much',
        plan: 'pro',
        requests: 3,
        rate_limited: 1,
        sockets: 0,
        ws_connections: 30,
      },
      expect.objectContaining({ id: little.id, requests: 1, rate_limited: 0, sockets: 1 }) as unknown,
    ])
    expect(await fixture.answer('keys top --limit 1')).toEqual(all.slice(0, 1))
    const { out } = await fixture.fxd('keys top')
    expect(out).toMatch(/^ID +PREFIX +PLAN +REQUESTS +RATE LIMITED +SOCKETS +NAME$/m)
    expect(out).toMatch(new RegExp(`^${little.id} .* 1 +0 +1 of 30 +-$`, 'm'))
    for (const { key } of [much, little, unused]) expect(out).not.toContain(key)
    expect(out).not.toContain(unused.id)
    socket.close()
    await once(socket, 'close')
  })

  test.each([
    ['keys top --limit 0', 64, /limit: got 0, wanted 1 to 200/],
    ['keys top --limit many', 64, /--limit.*whole number/],
    ['keys create --plan gold --feeds BROKERA:ZERO', 64, /plan: got "gold"/],
    ['keys create --plan basic --feeds BROKERA:ZER0', 1, /did you mean BROKERA:ZERO\?/],
    ['keys create --plan basic', 64, /--feeds <list>' not specified/],
    ['keys create --plan basic --feeds BROKERA:ZERO --rpm -1', 64, /--rpm.*whole number/],
    ['keys create --plan basic --feeds BROKERA:ZERO --rpm 1e3', 64, /--rpm.*whole number/],
    ['keys create --plan enterprise --feeds BROKERA:ZERO --rpm 1', 64, /ws_symbols/],
    ['keys create --plan basic --feeds BROKERA:ZERO --allow-ip=', 64, /--allow-ip: got none/],
    ['keys create --plan basic --feeds BROKERA:ZERO --allow-ip ,', 64, /--allow-ip: got none/],
    ['keys create --plan basic --feeds BROKERA:ZERO --expires=', 64, /--expires: got ""/],
    ['keys update k_1 --allow-ip=', 64, /--allow-ip: got none/],
    ['keys rotate k_1 --overlap soon', 64, /--overlap: got "soon"/],
    ['keys update k_1', 64, /No option names a change/],
    ['keys show k_1', 1, /no key with the id "k_1"/],
    ['keys show', 64, /missing required argument 'id'/],
    ['keys list extra', 64, /too many arguments/],
    ['keys lst', 64, /Did you mean list\?/],
    ['keyz', 64, /Did you mean keys\?/],
    ['keys list --jsn', 64, /unknown option '--jsn'/],
    ['feeds show BROKERA:ZER', 1, /did you mean BROKERA:ZERO\?/],
    ['feeds purge BROKERA:ZERO', 1, /still defined by a Feed manifest/],
  ])('%s ends with %i and a sentence', async (line, code, sentence) => {
    const outcome = await fixture.fxd(line)
    expect(outcome).toMatchObject({ code, out: '' })
    expect(outcome.err).toMatch(sentence)
    expect(outcome.err).toMatch(/^fxd: /)
  })
})
