import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { soakStages, tiers } from '../support/tiers/tiers.ts'
import { everything, textOf } from './tree.ts'

interface Workflow {
  readonly permissions: unknown
  readonly jobs: Readonly<
    Record<string, { readonly strategy?: { readonly matrix: { readonly stage: string[] } } }>
  >
}

const workflows = everything.filter(({ path }) => path.startsWith('.github/workflows/'))
const workflow = (path: string): Workflow => parse(textOf(path)) as Workflow

test('CI runs every stage of make test', () => {
  const stages = workflow('.github/workflows/ci.yml').jobs['test']?.strategy?.matrix.stage
  const ofTest = tiers['test']?.filter((stage) => !soakStages.includes(stage))
  expect(stages).toEqual(ofTest?.map(({ name }) => name))
})

test('workflows pin their actions by major version and have read permissions only', () => {
  expect(workflows.map(({ path }) => path)).toHaveLength(2)
  for (const { path, text } of workflows) {
    const actions = [...text.matchAll(/uses: (.+)$/gm)].map(([, action = '']) => action)
    expect(actions.length).toBeGreaterThan(3)
    expect(actions.filter((action) => !/^[\w-]+\/[\w-]+@v\d+$/.test(action))).toEqual([])
    expect(workflow(path).permissions).toEqual({ contents: 'read' })
  }
})
