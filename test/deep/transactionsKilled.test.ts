import { describeKilling, everyCase } from '../chaos/killing';

describeKilling(everyCase);
