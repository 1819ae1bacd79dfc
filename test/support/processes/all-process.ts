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
} as const satisfies Record<Exclude<keyof Target, 'pods'>, string>

/** A running service on the manifests of test/acceptance/feeds, from variables; undefined: start a new one. */
const existingTarget = (): Target | undefined => {
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

/** API keys, and tokens of charts. */
const keyShape = /fxd_[0-9a-f]{32}|fxc_[\w-]{20}/

/** Throws, and so fails the run, if the log of the service contains a key. */
const assertNoKeyWritten = (log: string): void => {
  const line = readFileSync(log, 'utf8')
    .split('\n')
    .find((text) => keyShape.test(text))
  if (line !== undefined) throw new Error(`the service wrote a key to its log: ${line}`)
}

/** Throws if the metrics of the running service contain a key. */
const assertNoKeyMeasured = async (ops: string): Promise<void> => {
  const text = await (await fetch(`${ops}/metrics`)).text()
  if (!text.includes('fxd_')) throw new Error(`the service answered no metrics: ${text.slice(0, 500)}`)
  const line = text.split('\n').find((each) => keyShape.test(each))
  if (line !== undefined) throw new Error(`the service wrote a key to its metrics: ${line}`)
}

/** Starts one service with first bars for all test files of the suite. Resolves with a function that ends it. */
export async function oneService(project: TestProject, store: string): Promise<() => Promise<void>> {
  const existing = existingTarget()
  if (existing !== undefined) {
    await seed(existing)
    project.provide('target', existing)
    return async () => {
      await assertNoKeyMeasured(existing.ops)
      assertNoKeyWritten(existing.log)
    }
  }
  const { home, discard } = makeHome()
  const service = await startService(home, { store })
  const end = async () => {
    const earlyEnd = service.process.exitCode ?? service.process.signalCode
    if (earlyEnd !== null)
      throw new Error(`the service ended with ${earlyEnd} during the run: see ${service.target.log}`)
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
