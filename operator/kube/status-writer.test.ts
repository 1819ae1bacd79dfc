import { expect, test } from 'vitest'
import { createVirtualClock } from '../../test/support/fixtures/virtual-clock.ts'
import type { Condition } from './condition.ts'
import { resources } from './resources.ts'
import { StatusWriter } from './status-writer.ts'

interface Status {
  readonly observedGeneration: number
  readonly conditions: readonly Condition[]
}

const statusOf = (ready: Condition['status'], reason: string, observedGeneration = 1): Status => {
  const words = { reason, message: '', lastTransitionTime: '' }
  return { observedGeneration, conditions: [{ type: 'Ready', status: ready, ...words }] }
}

/** The type of the Event for a change from one status to another. */
async function eventOf(had: Status | undefined, status: Status): Promise<string | undefined> {
  let recorded: string | undefined
  const deps = {
    api: { applyStatus: async () => undefined },
    events: { record: (_: string, __: unknown, { type }: { type: string }) => void (recorded = type) },
    clock: createVirtualClock(),
  }
  const options = { frequent: [], everyMs: 0, routine: ['RollingOut'], starting: ['ShardsNotReady'] }
  const writer = new StatusWriter<Status>(resources.streampools, options, deps as never)
  await writer.write({ metadata: { name: 'a', uid: 'u' }, ...(had && { status: had }) }, status)
  return recorded
}

const serving = statusOf('True', 'Serving')

test.for([
  ['pods are replaced', serving, statusOf('False', 'RollingOut'), 'Normal'],
  ['the first pods start', undefined, statusOf('False', 'ShardsNotReady'), 'Normal'],
  [
    'pods start after a rollout',
    statusOf('False', 'RollingOut'),
    statusOf('False', 'ShardsNotReady'),
    'Normal',
  ],
  ['a changed object wants more pods', serving, statusOf('False', 'ShardsNotReady', 2), 'Normal'],
  ['all is well', statusOf('False', 'RollingOut'), serving, 'Normal'],
  ['pods that were ready are not', serving, statusOf('False', 'ShardsNotReady'), 'Warning'],
  ['it is unknown whether the object is ready', serving, statusOf('Unknown', 'IngestUnavailable'), 'Warning'],
  ['the object is refused', serving, statusOf('False', 'Invalid', 2), 'Warning'],
  ['the reason is the one of before', serving, statusOf('True', 'Serving', 2), undefined],
] as const)('the Event has the right type when %s', async ([, had, status, wanted]) => {
  expect(await eventOf(had, status)).toBe(wanted)
})
