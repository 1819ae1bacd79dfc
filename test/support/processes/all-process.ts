import { readFileSync } from 'node:fs'
import type { TestProject } from 'vitest/node'
import { seed } from '../../acceptance/client/seed.ts'
import type { Target } from '../../acceptance/client/target.ts'
import { makeHome, startService } from './service-process.ts'

const variables = {
  url: 'FXD_ACCEPTANCE_URL',
  ws: 'FXD_ACCEPTANCE_WS',
  ops: 'FXD_ACCEPTANCE_OPS',
  grpc: 'FXD_ACCEPTANCE_GRPC',
  token: 'FXD_ACCEPTANCE_TOKEN',
  issuer: 'FXD_ACCEPTANCE_ISSUER',
  importer: 'FXD_ACCEPTANCE_IMPORTER',
  input: 'FXD_ACCEPTANCE_INPUT',
  log: 'FXD_ACCEPTANCE_LOG',
} as const satisfies Record<keyof Target, string>

/** A service that somebody else runs on the manifests of test/acceptance/feeds; undefined: start our own. */
const given = (): Target | undefined => {
  if (process.env[variables.url] === undefined) return undefined
  const entries = Object.entries(variables).map(([field, name]) => {
    const value = process.env[name]
    if (value === undefined || value === '') {
      throw new Error(
        `${variables.url} is set, ${name} is not; a target needs ${Object.values(variables).join(', ')}.`,
      )
    }
    return [field, value]
  })
  return Object.fromEntries(entries) as Target
}

const keyShape = /fxd_[0-9a-f]{32}/

/** No key of the whole run may have been written by the service; thrown here, it fails the run. */
const assertNoKeyWritten = (log: string): void => {
  const line = readFileSync(log, 'utf8')
    .split('\n')
    .find((text) => keyShape.test(text))
  if (line !== undefined) throw new Error(`the service wrote a key to its log: ${line}`)
}

/** The same of its metrics, while it still answers. */
const assertNoKeyMeasured = async (ops: string): Promise<void> => {
  const text = await (await fetch(`${ops}/metrics`)).text()
  if (!text.includes('fxd_')) throw new Error(`the service answered no metrics: ${text.slice(0, 500)}`)
  const line = text.split('\n').find((each) => keyShape.test(each))
  if (line !== undefined) throw new Error(`the service wrote a key to its metrics: ${line}`)
}

/** Gives every test file of the suite the one service of the run, its first bars stored; what it gives ends it. */
export async function oneService(project: TestProject, store: string): Promise<() => Promise<void>> {
  const theirs = given()
  if (theirs !== undefined) {
    await seed(theirs)
    project.provide('target', theirs)
    return async () => {
      await assertNoKeyMeasured(theirs.ops)
      assertNoKeyWritten(theirs.log)
    }
  }
  const { home, discard } = makeHome()
  const service = await startService(home, { store })
  const end = async () => {
    const early = service.process.exitCode ?? service.process.signalCode
    if (early !== null)
      throw new Error(`the service ended with ${early} during the run: see ${service.target.log}`)
    const measured = await Promise.allSettled([assertNoKeyMeasured(service.target.ops)])
    const outcome = await service.stop()
    assertNoKeyWritten(service.target.log)
    for (const each of measured) if (each.status === 'rejected') throw each.reason
    if (outcome !== 0) throw new Error(`the service ended with ${outcome}: see ${service.target.log}`)
    discard()
  }
  try {
    await seed(service.target)
  } catch (error) {
    await service.stop('SIGKILL')
    throw error
  }
  project.provide('target', service.target)
  return end
}

export default (project: TestProject): Promise<() => Promise<void>> => oneService(project, 'embedded')
