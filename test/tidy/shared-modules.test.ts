import { tidyRule } from './rule.ts'
import { forbid } from './rules/phrases.ts'
import { written } from './tree.ts'

const path = 'test/support/fixtures/stream-fixture.ts'

tidyRule(
  'hooks are registered by each test file, because the files of a worker share the modules of fixtures',
  {
    check: forbid({
      found: /^(before|after)(All|Each)\(/m,
      cure: 'put it into a function that each test file calls',
    }),
    on: written.filter(
      (file) => /^(test|services|operator)\//.test(file.path) && !file.path.endsWith('.test.ts'),
    ),
    atLeast: 300,
    planted: [{ path, text: 'let a = 1\nbeforeEach(() => (a = 2))', complaint: ':2 has "beforeEach("' }],
    fine: [{ path, text: 'export function useStream(): void {\n  beforeEach(() => undefined)\n}' }],
  },
)
