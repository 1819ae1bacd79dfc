import { describe } from 'vitest'
import { openRegistryFixture } from '../support/fixtures/registry-fixture.ts'
import { oneServer } from '../support/questdb/one-server.ts'
import { openOn } from '../support/questdb/stores.ts'
import { registryFeeds } from './suites/registry-feeds.ts'
import { registryKeys } from './suites/registry-keys.ts'
import { registryNames } from './suites/registry-names.ts'
import { registrySymbols } from './suites/registry-symbols.ts'

describe('fxd.v1.Registry on the embedded store', () => {
  registryFeeds(openRegistryFixture)
  registryKeys(openRegistryFixture)
  registryNames(openRegistryFixture)
  registrySymbols(openRegistryFixture)
})

describe('fxd.v1.Registry on QuestDB', () => {
  const server = oneServer()
  const open = async () => {
    const { stores } = await openOn(server())
    const fixture = await openRegistryFixture(stores)
    return {
      ...fixture,
      remove: async () => {
        await fixture.remove()
        await stores.close()
      },
    }
  }
  registryFeeds(open)
  registryKeys(open)
  registryNames(open)
  registrySymbols(open)
})
