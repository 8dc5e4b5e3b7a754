/** SQL: fees `f` of several chain transactions together, as `PaidFees`. */
export const FEE_SUMS = `coalesce(sum(f.fee), 0)::text AS "paid", coalesce(sum(f.gas_used), 0)::text AS "gasUsed",
  coalesce(sum(f.data_fee), 0)::text AS "dataFee", count(*)::integer AS "chainTransactions",
  (count(*) FILTER (WHERE f.fee IS NULL))::integer AS "unknown"`;

/** SQL: the fees of the transaction `t` as one JSON value; null where it has cost nothing yet. */
export const feesColumn = `(SELECT to_json(sums) FROM (SELECT ${FEE_SUMS} FROM relayer_fees f WHERE f.transaction_id = t.id
    HAVING count(*) > 0) sums) AS fees`;
