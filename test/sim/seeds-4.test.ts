import { describeSeeds } from './seeds.ts'

describeSeeds(3, 4)
