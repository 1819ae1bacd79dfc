import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { definitionToManifest } from '../../../services/core/manifest/write.ts'
import { applyFeeds } from '../../../services/registry/apply-feeds.ts'
import { live, type RegistryFixture, zero } from '../../support/fixtures/registry-fixture.ts'

/** Contract of feeds that Kubernetes objects own, for every store. */
export function registryFeeds(open: () => Promise<RegistryFixture>): void {
  let fixture: RegistryFixture
  beforeAll(async () => {
    fixture = await open()
  })
  afterAll(() => fixture.remove())
  beforeEach(async () => {
    await fixture.call('SetFeedsOwner', { owner: 'manifests' })
    await fixture.restore()
  })

  const manifestOf = (definition: typeof zero, spec: object = {}): string => {
    const manifest = definitionToManifest(definition)
    return JSON.stringify({ ...manifest, spec: { ...manifest.spec, ...spec } })
  }
  const other = {
    ...zero,
    name: 'broker-c',
    key: 'BROKERC:X',
    broker: 'BROKERC',
    account: 'X',
  } as typeof zero
  const shown = (): string[] =>
    fixture.registry
      .view()
      .feeds()
      .map(({ key }) => key)

  describe('ApplyFeed', () => {
    test('makes one feed and changes no other feed; a repeated call writes nothing', async () => {
      const feed = await fixture.call('ApplyFeed', { manifestJson: manifestOf(other), uid: 'uid-1' })
      expect(feed).toMatchObject({ key: 'BROKERC:X', owner: 'uid-1', hidden: false, symbolCount: 2 })
      expect(shown()).toEqual(['BROKERA:ZERO', 'BROKERB:LIVE', 'BROKERC:X'])
      const { version } = fixture.registry.view()
      await fixture.call('ApplyFeed', { manifestJson: manifestOf(other), uid: 'uid-1' })
      expect(fixture.registry.view().version).toBe(version)
      await fixture.call('RemoveFeed', { key: 'BROKERC:X', uid: 'uid-1' })
    })

    test('of a feed that manifests own is refused until the owner of all feeds is the operator', async () => {
      const request = { manifestJson: manifestOf(zero, { description: 'new' }), uid: 'uid-1' }
      expect(await fixture.refusal('ApplyFeed', request)).toEqual([
        'FAILED_PRECONDITION',
        expect.stringContaining('fxd feeds owner operator'),
      ])
      expect(await fixture.call('SetFeedsOwner', { owner: 'operator' })).toEqual({
        changed: fixture.registry.view().allFeeds().length,
      })
      expect(shown()).toEqual(['BROKERA:ZERO', 'BROKERB:LIVE'])
      expect(await fixture.call('ApplyFeed', request)).toMatchObject({ description: 'new', owner: 'uid-1' })
    })

    test('by a second object is refused until it names the first object as its predecessor', async () => {
      await fixture.call('ApplyFeed', { manifestJson: manifestOf(other), uid: 'uid-1' })
      const second = { manifestJson: manifestOf(other), uid: 'uid-2' }
      expect((await fixture.refusal('ApplyFeed', second))[1]).toContain('uid-1')
      expect((await fixture.call('ApplyFeed', { ...second, previousUid: 'uid-1' })).owner).toBe('uid-2')
      expect(await fixture.call('RemoveFeed', { key: 'BROKERC:X', uid: 'uid-1' })).toEqual({ removed: false })
      expect(shown()).toContain('BROKERC:X')
      expect(await fixture.call('RemoveFeed', { key: 'BROKERC:X', uid: 'uid-2' })).toEqual({ removed: true })
      expect(shown()).not.toContain('BROKERC:X')
      // Any object may apply a removed feed.
      await fixture.call('ApplyFeed', { manifestJson: manifestOf(other), uid: 'uid-3' })
      await fixture.call('RemoveFeed', { key: 'BROKERC:X', uid: 'uid-3' })
    })

    test('with the name of a feed of the manifests and another account is refused', async () => {
      const renamed = { ...other, name: zero.name } as typeof zero
      const [status, words] = await fixture.refusal('ApplyFeed', {
        manifestJson: manifestOf(renamed),
        uid: 'uid-1',
      })
      expect([status, words.includes('cannot change')]).toEqual(['INVALID_ARGUMENT', true])
    })

    test('swaps the feeds of two objects that were deleted and made again', async () => {
      const second = { ...other, name: 'broker-d', key: 'BROKERC:Y', account: 'Y' } as typeof zero
      const apply = (definition: typeof zero, uid: string, previousUid = ''): Promise<unknown> =>
        fixture.call('ApplyFeed', { manifestJson: manifestOf(definition), uid, previousUid })
      await apply(other, 'uid-1')
      await apply(second, 'uid-2')
      expect(
        (
          await fixture.refusal('ApplyFeed', {
            manifestJson: manifestOf({ ...second, name: other.name }),
            uid: 'uid-1',
            previousUid: 'uid-2',
          })
        )[1],
      ).toContain('cannot change')
      expect(await apply({ ...second, name: other.name }, 'uid-3', 'uid-2')).toMatchObject({ owner: 'uid-3' })
      expect(await apply({ ...other, name: second.name }, 'uid-4', 'uid-1')).toMatchObject({ owner: 'uid-4' })
      for (const [key, uid] of [
        [second.key, 'uid-3'],
        [other.key, 'uid-4'],
      ] as const)
        expect(await fixture.call('RemoveFeed', { key, uid })).toEqual({ removed: true })
    })

    test('with a wrong manifest names every fault', async () => {
      const [status, words] = await fixture.refusal('ApplyFeed', {
        manifestJson: manifestOf(other, { quoteBasis: 'Ask', delaySeconds: -1 }),
        uid: 'uid-1',
      })
      expect(status).toBe('INVALID_ARGUMENT')
      expect(words.split('\n')).toEqual([
        expect.stringContaining('spec.quoteBasis'),
        expect.stringContaining('spec.delaySeconds'),
      ])
    })

    test.each([
      [{ manifestJson: '{', uid: 'uid-1' }, 'manifest_json'],
      [{ manifestJson: manifestOf(other), uid: '' }, 'uid'],
      [{ manifestJson: manifestOf(other), uid: 'operator' }, 'uid'],
    ])('refuses the request %o', async (request, field) => {
      expect(await fixture.refusal('ApplyFeed', request)).toEqual([
        'INVALID_ARGUMENT',
        expect.stringMatching(new RegExp(`^${field}: `)),
      ])
    })

    test('based on an older version fails with ABORTED', async () => {
      const { version } = await fixture.call('ApplyFeed', { manifestJson: manifestOf(other), uid: 'uid-1' })
      const changed = { manifestJson: manifestOf(other, { description: 'b' }), uid: 'uid-1' }
      await fixture.call('ApplyFeed', changed)
      expect((await fixture.refusal('ApplyFeed', { ...changed, basedOn: version }))[0]).toBe('ABORTED')
      await fixture.call('RemoveFeed', { key: 'BROKERC:X', uid: 'uid-1' })
    })
  })

  describe('the owner of feeds', () => {
    test('applying manifests keeps feeds of the operator, and is refused if a manifest names such a feed', async () => {
      await fixture.call('ApplyFeed', { manifestJson: manifestOf(other), uid: 'uid-1' })
      expect(await applyFeeds(fixture.writer, [zero])).toEqual({ outcome: 'applied', written: 1 })
      expect(shown()).toEqual(['BROKERA:ZERO', 'BROKERC:X'])
      const refused = await applyFeeds(fixture.writer, [zero, other])
      expect(refused).toMatchObject({ outcome: 'refused', faults: [{ feed: 'BROKERC:X' }] })
      expect(await applyFeeds(fixture.writer, [zero, live])).toMatchObject({ outcome: 'applied' })
      await fixture.call('RemoveFeed', { key: 'BROKERC:X', uid: 'uid-1' })
    })

    test('an owner other than operator or manifests is refused', async () => {
      expect((await fixture.refusal('SetFeedsOwner', { owner: 'operater' }))[1]).toContain(
        'did you mean operator',
      )
    })
  })
}
