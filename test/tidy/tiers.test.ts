import { expect, test } from 'vitest'
import config from '../../vitest.config.ts'
import { tiers } from '../support/tiers/tiers.ts'

const projects = ((config as { test: { projects: { test: { name: string } }[] } }).test.projects ?? []).map(
  (project) => project.test.name,
)
const projectsOf = (tier: string): string[] => (tiers[tier] ?? []).flatMap((stage) => stage.projects)

test('make test runs every project exactly once', () => {
  expect(projects.length).toBeGreaterThan(10)
  expect(projectsOf('test').toSorted()).toEqual(projects.toSorted())
})

test.for(['check', 'smoke'])('make %s runs only projects of make test', (tier) => {
  expect(projectsOf(tier).length).toBeGreaterThan(1)
  expect(projectsOf('test')).toEqual(expect.arrayContaining(projectsOf(tier)))
})

test('make test runs all files of its projects', () => {
  expect(tiers['test']?.filter(({ files, changedOnly }) => files || changedOnly)).toEqual([])
})
