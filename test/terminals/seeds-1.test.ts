import { describeSeeds } from './seeds.ts'

describeSeeds(0, 2)
