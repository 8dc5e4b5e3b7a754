// 200 executions at the same time on each chain, against budgets for 50 each.
process.env.RACE_AT_ONCE ??= '200';
require('../chaos/budgetRace.test');
